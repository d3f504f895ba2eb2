import Testing

/// Every row of the flow's table, with the store's notification of the charge in every order.
@Suite(.timeLimit(.minutes(15))) struct `The table of the purchase flow` {
    @Test(arguments: Delivery.all) func `holds row by row`(_ delivery: Delivery) async throws {
        // The rows on the store's own verification need receipts to be sent to it.
        let options = ["--receipt-verification", "remote"]
        try await World.run(services: 0, options: options, storeAPI: true) { world throws in
            let stage = try Stage(world, delivery)
            for row in FlowRow.all {
                let scene = try Scene(stage, row: row.number)
                try row.play(scene)
                try scene.settle()
                let place: Comment = "row \(row.number): \(row.situation)"
                #expect(try scene.coins() == row.coins, place)
                #expect(scene.app.isDone == row.isFinished, place)
            }
            stage.stop()
        }
    }

    @Test func `has fifty rows`() {
        #expect(FlowRow.all.map(\.number) == Array(1...50))
    }
}
