// libcurl's checks of argument types are macros around macros; the functions below have types of their own.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

// Swift does not call functions with variable arguments: one function for each type of argument.

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// The bytes are copied.
static inline CURLcode ccurl_set_body(CURL *handle, const void *bytes, long long count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

// The bytes are copied.
static inline CURLcode ccurl_set_authorities(CURL *handle, const void *bytes, long long count) {
    struct curl_blob blob = {(void *)bytes, (size_t)count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, CURLOPT_CAINFO_BLOB, &blob);
}

// `data` comes back as the last argument of all three.
static inline CURLcode ccurl_set_callbacks(
    CURL *handle, void *data, curl_write_callback header, curl_write_callback body, curl_opensocket_callback open) {
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, data);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, data);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, data);
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
}

// Nothing but HTTP and HTTPS, whatever libcurl was built with.
static inline CURLcode ccurl_set_protocols(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

// A handle that is given up does not wait for its name's resolver. Since 7.87; before it, that may hold the loop up.
static inline CURLcode ccurl_set_quick_exit(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)handle;
    return CURLE_OK;
#endif
}

static inline long ccurl_os_errno(CURL *handle) {
    long number = 0;
    curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
    return number;
}

// The system's file of authorities; NULL: not known.
static inline const char *ccurl_authorities_file(CURL *handle) {
    char *path = NULL;
#if LIBCURL_VERSION_NUM >= 0x075400
    curl_easy_getinfo(handle, CURLINFO_CAINFO, &path);
#else
    (void)handle;
#endif
    return path;
}

// Whether names are asked for beside the transfers.
static inline int ccurl_resolves_beside(void) {
    return (curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS) != 0;
}
