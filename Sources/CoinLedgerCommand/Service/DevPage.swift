import Base

/// What `coinledger dev` tells other programs, in `dev.json` of its data folder.
struct DevPage: Sendable {
    let url: String
    let storeURL: String
    let databaseURL: String
    let backendKey: String
    let supportKey: String

    static let fileName = "dev.json"

    var json: JSON {
        [
            "url": .string(url), "storeUrl": .string(storeURL),
            "databaseUrl": .string(databaseURL),
            "apiKeys": ["backend": .string(backendKey), "support": .string(supportKey)],
        ]
    }

    init(url: String, storeURL: String, databaseURL: String, backendKey: String, supportKey: String)
    {
        self.url = url
        self.storeURL = storeURL
        self.databaseURL = databaseURL
        self.backendKey = backendKey
        self.supportKey = supportKey
    }

    /// Reads the page that a running `coinledger dev` has written into `folder`.
    init(folder: String) throws(UsageError) {
        let path = "\(folder)/\(DevPage.fileName)"
        let bytes: [UInt8]
        do { bytes = try FileContents.read(path) } catch {
            throw UsageError("there is no \(path): start coinledger dev first")
        }
        let json = try? JSON.parse(bytes)
        guard let url = json?["url"]?.string, let storeURL = json?["storeUrl"]?.string,
            let databaseURL = json?["databaseUrl"]?.string,
            let backendKey = json?["apiKeys"]?["backend"]?.string,
            let supportKey = json?["apiKeys"]?["support"]?.string
        else { throw UsageError("\(path) isn't what coinledger dev writes") }
        self.init(
            url: url, storeURL: storeURL, databaseURL: databaseURL, backendKey: backendKey,
            supportKey: supportKey)
    }

    /// What a person can paste.
    var banner: String {
        """

        CoinLedger   \(url)   (also /openapi.json, /metrics, /readyz)
        App Store    \(storeURL)   (a stand-in: its purchases cost nothing)
        Database     \(databaseURL)
        API key      \(backendKey)

        Buy coins, post the purchase, read the balance:

          curl -s -d '{"productId":"com.nonchalant.consumable1"}' \(storeURL)/purchases > purchase.json

          sed 's/.*"signedTransaction":"\\([^"]*\\)".*/{"receipt":"\\1"}/' purchase.json | curl -s -d @- -H 'Authorization: Bearer \(backendKey)' \(url)/v1/accounts/u1/receipts

          curl -s -H 'Authorization: Bearer \(backendKey)' \(url)/v1/accounts/u1/balance

        Have the store refund it, which it tells the service by a notification:

          curl -s -X POST \(storeURL)/transactions/$(sed 's/.*"transactionId":"\\([^"]*\\)".*/\\1/' purchase.json)/refund

        docs/stand-in.md has everything that the store can be told: refunds in part, purchases that wait,
        notifications that get lost, errors of the Server API.

        Ctrl-C stops everything.


        """
    }
}
