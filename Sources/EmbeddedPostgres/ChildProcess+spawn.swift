internal import Foundation

#if canImport(Darwin)
    internal import Darwin
    private typealias SpawnAttributes = posix_spawnattr_t?
    private typealias SpawnActions = posix_spawn_file_actions_t?
#else
    internal import Glibc
    private typealias SpawnAttributes = posix_spawnattr_t
    private typealias SpawnActions = posix_spawn_file_actions_t
#endif

extension ChildProcess {
    /// Calls `posix_spawn` so that the child inherits nothing by accident.
    static func spawn(
        _ arguments: [String], environment: [String: String], descriptors: [Int32: Descriptor]
    ) throws -> pid_t {
        #if canImport(Darwin)
            var attributes: SpawnAttributes = nil
            var actions: SpawnActions = nil
        #else
            var attributes = SpawnAttributes()
            var actions = SpawnActions()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }

        setSignals(of: &attributes)
        // The descriptors are first copied to numbers above all requested ones, so that no `dup2` overwrites a
        // descriptor that is still needed.
        let clear = (descriptors.keys.max() ?? 2) + 1
        let copies = try descriptors.mapValues { try $0.copy(from: clear) }
        for number: Int32 in 0...2 where copies[number] == nil {
            let mode = number == 0 ? O_RDONLY : O_WRONLY
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", mode, 0)
        }
        for (number, copy) in copies { posix_spawn_file_actions_adddup2(&actions, copy.number, number) }
        #if !canImport(Darwin)
            // Some descriptors of a process may not be close-on-exec, and an inherited socket would keep its port in
            // use.
            closeOthers(from: max(clear, 3), in: &actions)
        #endif

        // The child's account may have no access to our working directory, and the child must not keep it in use.
        changeFolder(to: "/", in: &actions)

        let argv = arguments.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { envp.forEach { free($0) } }

        var pid: pid_t = 0
        let code = posix_spawn(&pid, arguments[0], &actions, &attributes, argv, envp)
        withExtendedLifetime(copies) {}
        guard code == 0 else { throw SystemError(code: code, call: "start \(arguments[0])") }
        return pid
    }

    #if !canImport(Darwin)
        /// POSIX_SPAWN_SETSID, which glibc defines only for C programs that ask for its extensions.
        private static let spawnSetSID: Int32 = 0x80

        /// Closes all descriptors from `lowest` up. From version 2.34 on, glibc has a function that closes them without
        /// a race. With an older glibc, only the descriptors that are open now are closed.
        private static func closeOthers(from lowest: Int32, in actions: inout SpawnActions) {
            typealias CloseFrom = @convention(c) (UnsafeMutablePointer<SpawnActions>, Int32) -> Int32
            if let symbol = dlsym(anywhere, "posix_spawn_file_actions_addclosefrom_np") {
                _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, lowest)
                return
            }
            let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            for number in open.compactMap({ Int32($0) }) where number >= lowest {
                posix_spawn_file_actions_addclose(&actions, number)
            }
        }
    #endif

    /// Sets the child's working directory. glibc can do this from version 2.29 on. With an older glibc, the child keeps
    /// our working directory.
    private static func changeFolder(to path: String, in actions: inout SpawnActions) {
        typealias AddChdir = @convention(c) (UnsafeMutablePointer<SpawnActions>, UnsafePointer<CChar>) -> Int32
        guard let symbol = dlsym(anywhere, "posix_spawn_file_actions_addchdir_np") else { return }
        _ = unsafeBitCast(symbol, to: AddChdir.self)(&actions, path)
    }

    /// RTLD_DEFAULT, a macro Swift does not import.
    private static var anywhere: UnsafeMutableRawPointer? {
        #if canImport(Darwin)
            UnsafeMutableRawPointer(bitPattern: -2)
        #else
            nil
        #endif
    }

    private static func setSignals(of attributes: inout SpawnAttributes) {
        // Our process, if it is a server, ignores SIGPIPE. It also ignores SIGINT and SIGTERM while it handles them in
        // another way. A shell that inherits an ignored signal can never catch it. So all signals get their default
        // actions in the child.
        var defaults = sigset_t()
        sigfillset(&defaults)
        sigdelset(&defaults, SIGKILL)
        sigdelset(&defaults, SIGSTOP)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        #if canImport(Darwin)
            let flags =
                POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID | POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | spawnSetSID
        #endif
        posix_spawnattr_setflags(&attributes, Int16(flags))
    }
}
