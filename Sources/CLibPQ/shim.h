#include <libpq-fe.h>

#ifdef __linux__
// For waiting on libpq's sockets. Swift's Glibc module does not include these headers.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif
