import AppStoreConnection

/// Keys made for these tests by the openssl command.
enum TestKeys {
    static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDUpM4mf4uq7RWU2+
        pPu03efelD1UkrRp7oaZsEgaSQuhRANCAASDiRVOtMLNOi1+LrfgH+nhpEU0I5OV
        JFwOdKV0rNYb+TbiQK0TUFr0WGs1fpK+NyUJ+ve1PzE/W/wEJNWVYbhH
        -----END PRIVATE KEY-----
        """
    static let p256Public = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEg4kVTrTCzTotfi634B/p4aRFNCOT
        lSRcDnSldKzWG/k24kCtE1Ba9FhrNX6SvjclCfr3tT8xP1v8BCTVlWG4Rw==
        -----END PUBLIC KEY-----
        """
    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAjiPMpdwG27POWaEPH
        oplIhOnVqzIE1MmcX4FyMafcgUjOkqLY93NE1Py6cy1eBlahZANiAATe8nFespZ4
        DXRD/DFgjORAm2uqY7Gbbv+2BKbp61Wh15pKK3HpXjQ3f5W8toXBp31rs35YtDwS
        6TJcUm9nAHS2vqkfPUxSfqNkgXtvmPUG66aPIwPh9PLucWQfuNbkZjY=
        -----END PRIVATE KEY-----
        """
    static let secp256k1 = """
        -----BEGIN PRIVATE KEY-----
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQg49fXvkC7a9SHBVQAob8l
        JfzvwC3LcbdoM6naf88Hm7uhRANCAARm6tHHbgRiHFkjUpb0mhVQPN9H5JzyRlWJ
        qtzvCFXoRsAfKo0c8zOcy2101sf4beaTGru+6cpesBE4V20QkRpC
        -----END PRIVATE KEY-----
        """
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEID1lEc/kYecz2YXHvJZcGjIMtEwwFQ/MwXzIp5+Lr/M7
        -----END PRIVATE KEY-----
        """
    /// The first one behind the password `secret`.
    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg7OgtpmzjEPgICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEELQtv2bK2TKC9Y5AyYmwKa8EgZC1
        n/NyKmgP1ksXAXBbircwJi6ngOPbNtt1tCSRjZf+n1rqnHZLNrieS0kX7s3fIx4M
        8cg/22EzgANT6iUaNdAaNEeFA03eDoSYaNXm/PfCRjgcUxtGhRc5tyGWwUZv++Vn
        L7jn5vUrfEKGs2QHzBi5XT14iD6butV8bxuTUC5xH9eMl61Udfu2k8ytmJq3Cr0=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}

extension AppStoreServerConfiguration {
    static func test() throws -> AppStoreServerConfiguration {
        AppStoreServerConfiguration(
            key: try AppStoreServerKey(pem: Array(TestKeys.p256.utf8)), keyID: "2X9R4HXF34",
            issuerID: "57246542-96fe-1a63-e053-0824d011072a", bundleID: "com.nonchalant")
    }
}
