package import CoinLedger
package import EventStore
package import Telemetry

/// Keeps the lots up to date with the events: reads each lane from its checkpoint on.
package struct LotProjector: Sendable {
    private let store: any EventStore & LotProjection
    private let log: Log

    package static let eventsPerStep: Int64 = 1000

    package init(store: any EventStore & LotProjection, log: Log) {
        self.store = store
        self.log = log
    }

    /// Takes the lots of a lane on by one step.
    ///
    /// - Returns: whether there may be more to do at once.
    package func step(_ lane: Lane) async throws(EventStoreError) -> Bool {
        let checkpoint = try await store.lotCheckpoint(of: lane)
        let (events, through) = try await store.grants(
            in: lane, after: checkpoint, limit: LotProjector.eventsPerStep)
        guard through > checkpoint else { return false }
        var lots: [ProjectedLot] = []
        for stored in events { lots += LotProjector.lots(of: try stored.decoded(), stored) }
        do throws(EventStoreError) {
            try await store.project(lots, in: lane, from: checkpoint, to: through)
        } catch .conflict {
            // Another process has taken this step.
            return true
        }
        return through - checkpoint == LotProjector.eventsPerStep
    }

    /// Takes every lane on until it's up to date with what was there at the beginning.
    package func catchUp() async throws(EventStoreError) {
        for number in 0..<store.laneCount {
            guard let lane = Lane(number) else { continue }
            while try await step(lane) {}
        }
    }

    /// Goes on until the task is cancelled; `pause` waits between looks at an idle log.
    package func run(pause: @Sendable () async -> Void) async {
        while !Task.isCancelled {
            do throws(EventStoreError) {
                try await catchUp()
            } catch {
                log.warning("lot projection waits", ["error": "\(error)"])
            }
            await pause()
        }
    }

    /// The lots that `event` made; `stored` says whose they are, where and when.
    static func lots(of event: Event, _ stored: StoredEvent) -> [ProjectedLot] {
        switch event {
        case .purchaseRecorded, .appAccountTokenLinked: []
        case .coinsGranted(let granted):
            granted.lots.map { lot in
                ProjectedLot(
                    account: stored.account, lot: lot, remaining: lot.coins,
                    environment: granted.environment, source: granted.source, grant: stored.id,
                    grantedAt: stored.recordedAt)
            }
        }
    }
}

extension StoredEvent {
    /// The event itself.
    func decoded() throws(EventStoreError) -> Event {
        do throws(EventCodec.Unreadable) {
            return try EventCodec.decode(self)
        } catch {
            throw .corrupt("event \(id): \(error)")
        }
    }
}
