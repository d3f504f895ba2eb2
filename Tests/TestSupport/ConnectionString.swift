import Base

/// libpq's connection strings, in either form.
package enum ConnectionString {
    /// The string with one more field. libpq takes the last of repeated ones.
    package static func adding(_ name: String, _ value: String, to string: String) -> String {
        guard string.contains("://") else { return "\(string) \(name)='\(value)'" }
        let encoded = value.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            return character.isLetter || character.isNumber
                ? String(character) : "%" + Hex.encode([byte])
        }
        return string + (string.contains("?") ? "&" : "?") + "\(name)=" + encoded.joined()
    }
}
