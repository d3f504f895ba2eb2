/// What is known of a certificate's revocation.
package enum RevocationStatus: String, Hashable, Sendable {
    case good
    /// Its authority has taken it back.
    case revoked
    /// Nobody could be asked, or the answer proves nothing.
    case unknown
}
