import CGMP
import COpenSSL

/// A public key on P-256 with tables of its multiples, which halve the cost of a verification.
///
/// Verifying means to compute `u1·G + u2·Q` (FIPS 186-5, section 6.4.2). OpenSSL has tables for the
/// generator G only; a group whose generator is the key Q gets them for Q. The App Store signs with
/// one key for years, so the tables' 26 ms are soon repaid.
@safe final class PrecomputedKey: @unchecked Sendable {
    // Sendable: neither group is changed after `init`, and OpenSSL only reads them.
    /// Freed with this object, as is the next.
    private let curve: OpaquePointer
    private let curveOfKey: OpaquePointer
    /// The curve's order, the highest byte first.
    private let orderBytes: [UInt8]

    private static let numberBytes = 32

    /// Nil if OpenSSL makes no tables for the key.
    init?(_ key: OpaquePointer) {
        guard let legacy = unsafe EVP_PKEY_get1_EC_KEY(key) else { return nil }
        defer { unsafe EC_KEY_free(legacy) }
        guard let curve = unsafe EC_GROUP_dup(EC_KEY_get0_group(legacy)) else { return nil }
        guard let curveOfKey = unsafe EC_GROUP_dup(curve) else {
            unsafe EC_GROUP_free(curve)
            return nil
        }
        unsafe self.curve = curve
        unsafe self.curveOfKey = curveOfKey
        var orderBytes = [UInt8](repeating: 0, count: PrecomputedKey.numberBytes)
        _ = unsafe BN_bn2binpad(
            EC_GROUP_get0_order(curve), &orderBytes, Int32(PrecomputedKey.numberBytes))
        self.orderBytes = orderBytes
        let hasTables =
            unsafe EC_GROUP_set_generator(
                curveOfKey, EC_KEY_get0_public_key(legacy), EC_GROUP_get0_order(curve),
                EC_GROUP_get0_cofactor(curve)) == 1
            && EC_GROUP_precompute_mult(curveOfKey, nil) == 1
            && EC_GROUP_have_precompute_mult(curveOfKey) == 1
        guard hasTables else {
            ERR_clear_error()
            return nil
        }
    }

    deinit {
        unsafe EC_GROUP_free(curve)
        unsafe EC_GROUP_free(curveOfKey)
    }

    /// Whether `signature`, r and s of 32 bytes each, is one of a text with this SHA-256.
    func verifies(_ signature: [UInt8], ofDigest digest: [UInt8]) -> Bool {
        guard signature.count == 64, digest.count == Digest.sha256Bytes,
            let context = unsafe BN_CTX_new()
        else { return false }
        unsafe BN_CTX_start(context)
        defer {
            unsafe BN_CTX_end(context)
            unsafe BN_CTX_free(context)
            ERR_clear_error()
        }
        guard let order = unsafe EC_GROUP_get0_order(curve),
            let r = unsafe number(signature[..<32], context),
            let s = unsafe number(signature[32...], context),
            let e = unsafe number(digest[...], context), unsafe isBelow(order, r),
            unsafe isBelow(order, s),
            let inverse = unsafe number(inverse(of: signature[32...])[...], context)
        else { return false }
        guard let u1 = unsafe BN_CTX_get(context), let u2 = unsafe BN_CTX_get(context),
            unsafe BN_mod_mul(u1, e, inverse, order, context) == 1,
            unsafe BN_mod_mul(u2, r, inverse, order, context) == 1
        else { return false }
        return unsafe isX(r, below: order, ofSumOf: u1, u2, context)
    }

    /// Whether the x coordinate of `u1·G + u2·Q` is `r` modulo the order; not for the point at
    /// infinity, which has none.
    ///
    /// The coordinate is X / Z², and a division would cost as much as a multiplication of a point:
    /// so r·Z² is compared with X. x itself, being below the field's prime, may also be r plus the
    /// order.
    private func isX(
        _ r: OpaquePointer, below order: OpaquePointer, ofSumOf u1: OpaquePointer,
        _ u2: OpaquePointer, _ context: OpaquePointer
    ) -> Bool {
        guard let sum = unsafe EC_POINT_new(curve), let other = unsafe EC_POINT_new(curveOfKey)
        else { preconditionFailure("OpenSSL has no memory for a point") }
        defer {
            unsafe EC_POINT_free(sum)
            unsafe EC_POINT_free(other)
        }
        guard let prime = unsafe EC_GROUP_get0_field(curve), let x = unsafe BN_CTX_get(context),
            let z = unsafe BN_CTX_get(context), let product = unsafe BN_CTX_get(context),
            unsafe EC_POINT_mul(curve, sum, u1, nil, nil, context) == 1,
            unsafe EC_POINT_mul(curveOfKey, other, u2, nil, nil, context) == 1,
            unsafe EC_POINT_add(curve, sum, sum, other, context) == 1,
            unsafe EC_POINT_is_at_infinity(curve, sum) == 0,
            unsafe EC_POINT_get_Jprojective_coordinates_GFp(curve, sum, x, nil, z, context) == 1,
            unsafe BN_mod_sqr(z, z, prime, context) == 1,
            unsafe BN_mod_mul(product, r, z, prime, context) == 1
        else { return false }
        if unsafe BN_cmp(product, x) == 0 { return true }
        return unsafe BN_add(product, r, order) == 1 && BN_cmp(product, prime) < 0
            && BN_mod_mul(product, product, z, prime, context) == 1 && BN_cmp(product, x) == 0
    }

    /// Modulo the order, of a number between 0 and it. OpenSSL's own takes seven times as long, as long
    /// as a multiplication of a point.
    private func inverse(of number: ArraySlice<UInt8>) -> [UInt8] {
        var inverse = [UInt8](repeating: 0, count: PrecomputedKey.numberBytes)
        let isInvertible = unsafe number.withUnsafeBufferPointer {
            unsafe gmp_invert($0.baseAddress, orderBytes, &inverse)
        }
        precondition(isInvertible, "every number has an inverse modulo a prime")
        return inverse
    }

    private func number(_ bytes: ArraySlice<UInt8>, _ context: OpaquePointer) -> OpaquePointer? {
        guard let number = unsafe BN_CTX_get(context) else { return nil }
        return unsafe bytes.withUnsafeBufferPointer {
            unsafe BN_bin2bn($0.baseAddress, Int32($0.count), number)
        }
    }

    private func isBelow(_ order: OpaquePointer, _ number: OpaquePointer) -> Bool {
        unsafe BN_is_zero(number) == 0 && BN_cmp(number, order) < 0
    }
}
