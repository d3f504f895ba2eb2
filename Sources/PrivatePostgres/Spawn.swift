import CLinux
import Glibc

/// What a new process is made from.
struct SpawnRequest: Sendable {
    let executable: String
    let arguments: [String]
    let environment: [String: String]?
    let workingDirectory: String?
    /// Descriptors of this process that become the child's 1 and 2; nil leaves them as they are.
    let output: Int32?
    let errors: Int32?

    /// Starts the process in a group of its own, with default signals, nothing on standard input
    /// and no descriptor but these three.
    ///
    /// - Returns: the process's id, or the system's error number.
    func spawn() -> Result<pid_t, SystemError> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, 1) }
        if let errors { unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2) }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        if let workingDirectory {
            unsafe posix_spawn_file_actions_addchdir_np(&actions, workingDirectory)
        }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var every = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&every)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &every)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        return unsafe withCStrings([executable] + arguments) { argv in
            guard let environment else {
                return unsafe run(&actions, &attributes, argv, coinledger_environment())
            }
            return unsafe withCStrings(environment.map { "\($0.key)=\($0.value)" }) {
                unsafe run(&actions, &attributes, argv, $0)
            }
        }
    }

    private func run(
        _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        _ environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Result<pid_t, SystemError> {
        var process: pid_t = 0
        let failure = unsafe posix_spawn(
            &process, executable, &actions, &attributes, arguments, environment)
        return failure == 0 ? .success(process) : .failure(SystemError(number: failure))
    }
}

/// An error number of the system.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package let number: Int32

    package static var last: SystemError { SystemError(number: errno) }

    package var description: String {
        var buffer = [CChar](repeating: 0, count: 256)
        _ = unsafe strerror_r(number, &buffer, buffer.count)
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Calls `body` with a null-terminated array of C strings that lives as long as the call.
private func withCStrings<Value>(
    _ strings: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
) -> Value {
    let array = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
        capacity: strings.count + 1)
    for (index, string) in strings.enumerated() { unsafe array[index] = unsafe strdup(string) }
    unsafe array[strings.count] = nil
    defer {
        for index in strings.indices { unsafe free(array[index]) }
        unsafe array.deallocate()
    }
    return unsafe body(array)
}
