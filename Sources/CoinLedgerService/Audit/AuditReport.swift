extension Audit {
    /// What was read, and every deviation as one line.
    package struct Report: Sendable {
        package var events: Int64 = 0
        package var accounts: Int64 = 0
        package var lots: Int64 = 0
        package var findings: [String] = []
        /// More deviations than `findingsMax` are counted only.
        package var findingCount: Int64 = 0

        package static let findingsMax = 1000

        mutating func find(_ text: String) {
            findingCount += 1
            if findings.count < Report.findingsMax { findings.append(text) }
        }
    }
}
