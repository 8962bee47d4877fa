#if canImport(Glibc) || canImport(Musl)
    internal import CLibPQ
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif

    /// epoll, one-shot.
    final class Poller: Sendable {
        private let queue: Int32

        init() { queue = epoll_create1(Int32(EPOLL_CLOEXEC)) }

        /// Reports the socket once when it is ready; arming it again replaces what was asked for.
        func arm(_ descriptor: Int32, _ interest: SocketLoop.Interest) {
            var event = epoll_event()
            event.events = EPOLLONESHOT.rawValue | EPOLLRDHUP.rawValue
            if interest.contains(.read) { event.events |= EPOLLIN.rawValue }
            if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
            event.data.fd = descriptor
            // libpq may have closed the descriptor and opened another of the same number: then it must be added.
            if epoll_ctl(queue, EPOLL_CTL_MOD, descriptor, &event) != 0, errno == ENOENT {
                epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event)
            }
        }

        func forget(_ descriptor: Int32) {
            var event = epoll_event()
            epoll_ctl(queue, EPOLL_CTL_DEL, descriptor, &event)
        }

        /// Waits for at least one report and hands all that are there to `report`.
        func wait(_ report: (Int32) -> Void) {
            withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
                let count = epoll_wait(queue, events.baseAddress, 64, -1)
                for index in 0..<max(0, Int(count)) { report(events[index].data.fd) }
            }
        }
    }
#elseif canImport(Darwin)
    internal import Darwin

    /// kqueue, one-shot.
    final class Poller: Sendable {
        private let queue: Int32

        init() { queue = kqueue() }

        /// Reports the socket once when it is ready; arming it again replaces what was asked for.
        func arm(_ descriptor: Int32, _ interest: SocketLoop.Interest) {
            var changes: [Darwin.kevent] = []
            for (filter, wanted) in [(EVFILT_READ, SocketLoop.Interest.read), (EVFILT_WRITE, .write)]
            where interest.contains(wanted) {
                var change = Darwin.kevent()
                change.ident = UInt(descriptor)
                change.filter = Int16(filter)
                change.flags = UInt16(EV_ADD | EV_ONESHOT)
                changes.append(change)
            }
            _ = kevent(queue, changes, Int32(changes.count), nil, 0, nil)
        }

        /// Closing a descriptor takes it out of the queue.
        func forget(_ descriptor: Int32) {}

        /// Waits for at least one report and hands all that are there to `report`.
        func wait(_ report: (Int32) -> Void) {
            withUnsafeTemporaryAllocation(of: Darwin.kevent.self, capacity: 64) { events in
                let count = kevent(queue, nil, 0, events.baseAddress, 64, nil)
                for index in 0..<max(0, Int(count)) { report(Int32(events[index].ident)) }
            }
        }
    }
#endif
