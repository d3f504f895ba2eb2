#pragma once
#include <microhttpd.h>
#include <stddef.h>

// The library's functions below are variadic or answer with a union, which Swift can't call or
// would have to know the layout of.

typedef void *(*chttp_target_callback)(void *cls, const char *target,
                                       struct MHD_Connection *connection);

static inline struct MHD_Daemon *chttp_start(
    unsigned int flags, MHD_AccessHandlerCallback access, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback notify, chttp_target_callback target, void *cls,
    struct MHD_OptionItem *options) {
  return MHD_start_daemon(flags, 0, NULL, NULL, access, cls,
                          MHD_OPTION_NOTIFY_COMPLETED, completed, cls,
                          MHD_OPTION_NOTIFY_CONNECTION, notify, cls,
                          MHD_OPTION_URI_LOG_CALLBACK, target, cls,
                          MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline int chttp_epoll_descriptor(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info == NULL ? -1 : info->epoll_fd;
}

static inline unsigned int chttp_connection_count(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info =
      MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info == NULL ? 0 : info->num_connections;
}

static inline int chttp_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

static inline void *chttp_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

static inline size_t chttp_head_bytes(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}

// Milliseconds the library may be left alone; -1 if it waits for its sockets only.
static inline int chttp_timeout(struct MHD_Daemon *daemon) {
  MHD_UNSIGNED_LONG_LONG milliseconds;
  if (MHD_get_timeout(daemon, &milliseconds) != MHD_YES) return -1;
  return milliseconds > 60000 ? 60000 : (int)milliseconds;
}
