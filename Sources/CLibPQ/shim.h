#include <libpq-fe.h>

#ifdef __linux__
// Readiness of libpq's sockets; Swift's Glibc module leaves this header out.
#include <sys/epoll.h>
#endif
