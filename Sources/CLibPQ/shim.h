#include <libpq-fe.h>

#ifdef __linux__
// Readiness of libpq's sockets; Swift's Glibc module leaves these headers out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif
