import Base
import Glibc

/// Structured log lines: an instant, a level, a constant message, and dotted keys with values.
///
/// ```
/// 2026-11-30T14:34:00.000Z info  request answered http.route=/livez http.status=200
/// ```
/// Values are quoted where they hold anything but plain characters, so that a line stays a line.
/// No receipt, key or token belongs in any of them.
package struct Log: Sendable {
    package enum Level: Int, Sendable, Comparable {
        case debug, info, warning, error

        package static func < (left: Level, right: Level) -> Bool {
            left.rawValue < right.rawValue
        }

        package init?(_ name: String) {
            switch name {
            case "debug": self = .debug
            case "info": self = .info
            case "warning": self = .warning
            case "error": self = .error
            default: return nil
            }
        }

        fileprivate var label: StaticString {
            switch self {
            case .debug: "debug"
            case .info: "info "
            case .warning: "warn "
            case .error: "error"
            }
        }
    }

    private let minimum: Level
    private let write: @Sendable (String) -> Void

    package init(minimum: Level = .info, write: @escaping @Sendable (String) -> Void) {
        self.minimum = minimum
        self.write = write
    }

    /// Lines go to standard error, each in one `write`.
    package static func standardError(minimum: Level = .info) -> Log {
        Log(minimum: minimum) { line in
            let bytes = Array(line.utf8)
            _ = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
        }
    }

    package static let none = Log(minimum: .error, write: { _ in })

    package typealias Fields = KeyValuePairs<StaticString, any CustomStringConvertible>

    package func debug(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        log(.debug, message, fields)
    }

    package func info(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        log(.info, message, fields)
    }

    package func warning(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        log(.warning, message, fields)
    }

    package func error(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        log(.error, message, fields)
    }

    private func log(_ level: Level, _ message: StaticString, _ fields: () -> Fields) {
        guard level >= minimum else { return }
        var line = "\(WallClock.now()) \(level.label) \(message)"
        for (key, value) in fields() { line += " \(key)=\(Log.quoted(value.description))" }
        write(line + "\n")
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
        }
        if isPlain, !text.isEmpty { return text }
        return String(decoding: JSON.string(text).bytes, as: UTF8.self)
    }
}
