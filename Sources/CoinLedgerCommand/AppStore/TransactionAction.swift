import AppStore
import AppStoreConnection
import Base
import CoinLedger
import EventLoop

/// `coinledger app-store transaction`
enum TransactionAction {
    static func run(_ settings: Settings) throws -> Int32 {
        let tools = try AppStoreTools(settings)
        defer { tools.stop() }
        let id = settings.words[1]
        let result: Result<String, AppStoreServerError> = EventLoop().run {
            do throws(AppStoreServerError) {
                return .success(try await tools.api.transaction(id).signed)
            } catch {
                return .failure(error)
            }
        }
        let signed: String
        switch result {
        case .success(let text): signed = text
        case .failure(let error):
            Output.error("coinledger app-store: \(error.sentence)\n")
            return error.exitStatus
        }
        let payload: [UInt8]
        do throws(SignedDataError) {
            payload = try tools.verifier.verifyPayload(
                signed, now: SystemClock.now().milliseconds)
        } catch {
            Output.error(
                "coinledger app-store: The store's answer isn't believed: \(error.message)\n")
            return 1
        }
        // Written anew, so that nothing in it reaches the terminal but text.
        guard let transaction = try? JSON.parse(payload) else {
            Output.error("coinledger app-store: The store's answer isn't JSON.\n")
            return 1
        }
        Output.print(String(decoding: transaction.bytes, as: UTF8.self) + "\n")
        return 0
    }
}
