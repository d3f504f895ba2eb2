#pragma once
#include <curl/curl.h>

// These functions of libcurl take any kind of argument, which Swift can't pass: one for each kind.
static inline CURLcode curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_bytes(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_writer(
    CURL *handle, size_t (*writer)(char *, size_t, size_t, void *), void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, writer);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}
static inline CURLcode curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
// The first header of this name of the last answer, or nothing.
static inline const char *curl_get_header(CURL *handle, const char *name) {
    struct curl_header *header = NULL;
    CURLHcode code = curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &header);
    return code == CURLHE_OK ? header->value : NULL;
}
static inline CURLMcode curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
// The result of a transfer that has ended, or -1 if the message says something else.
static inline int curl_message_result(const CURLMsg *message) {
    return message->msg == CURLMSG_DONE ? (int)message->data.result : -1;
}
