import AppStore
package import Base

extension StandInStore {
    /// The app receipt of a device as it is now, with what it hasn't finished in `environment`.
    package func receipt(
        device: String = "default", environment: String? = nil, form: ReceiptForm = ReceiptForm()
    ) -> String {
        snapshot(device: device, environment: environment).signed(form)
    }

    func snapshot(device: String, environment: String?) -> ReceiptSnapshot {
        let environment = environment ?? configuration.environment
        let sales = state.withLock { state in
            (state.unfinished[device] ?? []).compactMap { state.sales[$0] }
                .filter { $0.environment == environment }
        }
        // A receipt is of one app; a purchase with the wrong one makes the whole receipt wrong.
        return ReceiptSnapshot(
            authority: authority.receipts, environment: environment,
            bundleID: sales.last?.bundleID ?? configuration.bundleID, createdAt: now(),
            sales: sales)
    }

    /// What the endpoint of `environment` says of a receipt: the body of Apple's answer.
    package func verifyReceipt(_ receipt: String, environment: String) -> JSON {
        guard let bytes = Base64.decode(receipt) else { return ["status": 21002] }
        do throws(AppReceiptError) {
            let receipt = try receipts.verify(bytes, now: now())
            guard receipt.environment.text == environment else {
                return ["status": environment == StoreName.production ? 21007 : 21008]
            }
            return VerifyReceiptAnswer.confirmed(receipt, requestedAt: now()) { id in
                state.withLock { $0.sales[id] }?.receiptEntry()
            }
        } catch {
            return ["status": error == .malformed ? 21002 : 21003]
        }
    }

    static func verifier(_ authority: StandInAuthority) -> AppReceiptVerifier {
        do throws(RootCertificateError) {
            return AppReceiptVerifier(
                roots: try RootCertificates(
                    files: [authority.receipts.root.der], allowPrivate: true))
        } catch {
            preconditionFailure("the stand-in's root is a certificate")
        }
    }
}
