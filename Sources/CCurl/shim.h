// libcurl checks argument types with macros. They are off, because the functions below already have types.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

// Swift cannot call functions with variable arguments, so there is one function for each type of argument.

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

// A text, which is copied, or a list, which is not.
static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, const void *value) {
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

// `data` is the last argument of all three callbacks.
static inline CURLcode ccurl_set_callbacks(
    CURL *handle, void *data, curl_write_callback header, curl_write_callback body, curl_opensocket_callback open) {
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, data);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, data);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, data);
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
}

// Allows only HTTP and HTTPS, whatever libcurl was built with.
static inline CURLcode ccurl_set_protocols(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

// Cancels a transfer without waiting for its name resolution. Before libcurl 7.87 this may block the loop.
static inline CURLcode ccurl_set_quick_exit(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)handle;
    return CURLE_OK;
#endif
}

static inline long ccurl_long(CURL *handle, CURLINFO info) {
    long number = 0;
    curl_easy_getinfo(handle, info, &number);
    return number;
}

// The seconds of the answer's Retry-After, which has a number or a date; 0: there is none.
static inline long long ccurl_retry_after(CURL *handle) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
    return seconds;
}

// The system's file of certificate authorities; NULL: unknown.
static inline const char *ccurl_authorities_file(CURL *handle) {
    char *path = NULL;
#if LIBCURL_VERSION_NUM >= 0x075400
    curl_easy_getinfo(handle, CURLINFO_CAINFO, &path);
#else
    (void)handle;
#endif
    return path;
}
