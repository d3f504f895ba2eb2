import Glibc

/// A listening socket, until it's handed over or closed.
struct Listener {
    let descriptor: Int32
    let port: UInt16

    init(address: String, port: UInt16, backlogMax: Int) throws(HTTPServerError) {
        var storage = sockaddr_storage()
        let length = try Listener.fill(&storage, address: address, port: port)
        let descriptor = socket(
            Int32(storage.ss_family),
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
                | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
        do throws(HTTPServerError) {
            self.port = try Listener.listen(descriptor, &storage, length, backlogMax)
            self.descriptor = descriptor
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private static func fill(
        _ storage: inout sockaddr_storage, address: String, port: UInt16
    ) throws(HTTPServerError) -> socklen_t {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if unsafe inet_pton(AF_INET, address, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &storage) { storage in
                unsafe withUnsafeBytes(of: four) { unsafe storage.copyMemory(from: $0) }
            }
            return socklen_t(MemoryLayout<sockaddr_in>.size)
        }
        if unsafe inet_pton(AF_INET6, address, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &storage) { storage in
                unsafe withUnsafeBytes(of: six) { unsafe storage.copyMemory(from: $0) }
            }
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        }
        throw .invalidAddress
    }

    /// Binds and listens; returns the port, which the system chose if none was asked for.
    private static func listen(
        _ descriptor: Int32, _ storage: inout sockaddr_storage, _ length: socklen_t,
        _ backlogMax: Int
    ) throws(HTTPServerError) -> UInt16 {
        // A restarted service must not wait for the last connections of the one before it.
        var yes: Int32 = 1
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound = unsafe withUnsafePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length)
            }
        }
        guard bound == 0 else { throw failure("bind") }
        guard Glibc.listen(descriptor, Int32(clamping: backlogMax)) == 0 else {
            throw failure("listen")
        }
        var nameLength = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let named = unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &nameLength)
            }
        }
        guard named == 0 else { throw failure("getsockname") }
        // Port and family are at the same place in both kinds of address.
        return unsafe withUnsafeBytes(of: &storage) {
            unsafe UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    private static func failure(_ call: String) -> HTTPServerError {
        errno == EADDRINUSE ? .addressInUse : .system(call: call, errno: errno)
    }
}
