#if canImport(Glibc) || canImport(Musl)
    internal import CLibPQ
    #if canImport(Glibc)
        private import Glibc
    #else
        private import Musl
    #endif

    /// A poller with one-shot epoll.
    final class Poller: Sendable {
        private let queue: Int32
        private let alarm: Int32

        init() {
            queue = epoll_create1(Int32(EPOLL_CLOEXEC))
            alarm = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
            var event = epoll_event()
            event.events = EPOLLIN.rawValue | EPOLLET.rawValue
            event.data.fd = alarm
            epoll_ctl(queue, EPOLL_CTL_ADD, alarm, &event)
        }

        /// Reports the socket once when it is ready. Calling it again replaces the earlier interest.
        func arm(_ socket: Int32, _ interest: SocketLoop.Interest) {
            var event = epoll_event()
            event.events = EPOLLONESHOT.rawValue | EPOLLRDHUP.rawValue
            if interest.contains(.read) { event.events |= EPOLLIN.rawValue }
            if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
            event.data.fd = socket
            // A new socket is not in the queue, even if it has the number of a closed one: closing a socket removes it.
            if epoll_ctl(queue, EPOLL_CTL_MOD, socket, &event) != 0, errno == ENOENT {
                epoll_ctl(queue, EPOLL_CTL_ADD, socket, &event)
            }
        }

        func forget(_ socket: Int32) {
            var event = epoll_event()
            epoll_ctl(queue, EPOLL_CTL_DEL, socket, &event)
        }

        /// Ends the wait. The counter `alarm` is edge-triggered and never read, so each write is one event.
        func wake() { eventfd_write(alarm, 1) }

        /// Passes all pending events to `report`. Waits for the first one for at most this time.
        func wait(milliseconds: Int, _ report: (Int32) -> Void) {
            withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
                let count = epoll_wait(queue, events.baseAddress, 64, Int32(milliseconds))
                for index in 0..<max(0, Int(count)) where events[index].data.fd != alarm {
                    report(events[index].data.fd)
                }
            }
        }
    }
#elseif canImport(Darwin)
    private import Darwin

    /// A poller with one-shot kqueue.
    final class Poller: Sendable {
        private let queue: Int32

        init() {
            queue = kqueue()
            change {
                $0.filter = Int16(EVFILT_USER); $0.flags = UInt16(EV_ADD | EV_CLEAR)
            }
        }

        /// Reports the socket once when it is ready. Calling it again replaces the earlier interest.
        func arm(_ socket: Int32, _ interest: SocketLoop.Interest) {
            for (filter, wanted) in [(EVFILT_READ, SocketLoop.Interest.read), (EVFILT_WRITE, .write)]
            where interest.contains(wanted) {
                change {
                    $0.ident = UInt(socket)
                    $0.filter = Int16(filter)
                    $0.flags = UInt16(EV_ADD | EV_ONESHOT)
                }
            }
        }

        /// Nothing to do: closing a socket removes it from the queue.
        func forget(_ socket: Int32) {}

        /// Ends the wait.
        func wake() {
            change {
                $0.filter = Int16(EVFILT_USER); $0.fflags = UInt32(NOTE_TRIGGER)
            }
        }

        /// Passes all pending events to `report`. Waits for the first one for at most this time.
        func wait(milliseconds: Int, _ report: (Int32) -> Void) {
            withUnsafeTemporaryAllocation(of: Darwin.kevent.self, capacity: 64) { events in
                var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
                let count = kevent(queue, nil, 0, events.baseAddress, 64, &time)
                for index in 0..<max(0, Int(count)) where events[index].filter != Int16(EVFILT_USER) {
                    report(Int32(events[index].ident))
                }
            }
        }

        private func change(_ set: (inout Darwin.kevent) -> Void) {
            var event = Darwin.kevent()
            set(&event)
            _ = kevent(queue, &event, 1, nil, 0, nil)
        }
    }
#endif
