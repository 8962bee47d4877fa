#include <libpq-fe.h>
// For Postgres, which uses the system's functions only through this module.
#include <poll.h>

#ifdef __linux__
// For waiting on libpq's sockets. Swift's Glibc module does not include this header.
#include <sys/epoll.h>
#endif
