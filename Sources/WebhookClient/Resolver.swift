internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// The addresses of a host, all of them: each is checked before it is called.
enum Resolver {
    /// Asks the system, on a thread that may block; numbers in any spelling the C library takes are addresses too.
    ///
    /// - Throws: `ResolverError`.
    static func addresses(of host: String, port: Int) async throws -> [SocketAddress] {
        try await NIOThreadPool.singleton.runIfActive { try lookUp(host, port) }
    }

    private static func lookUp(_ host: String, _ port: Int) throws(ResolverError) -> [SocketAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { throw ResolverError(reason: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard let address = entry.pointee.ai_addr else { continue }
            switch entry.pointee.ai_family {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                    addresses.append(SocketAddress(pointer.pointee, host: host))
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                    addresses.append(SocketAddress(pointer.pointee, host: host))
                }
            default: continue
            }
        }
        return addresses
    }
}

/// The system knows no address of a host.
struct ResolverError: Error, Equatable {
    /// The system's own words.
    let reason: String
}
