# Speaks to a service that `fugu serve` runs. Needs the curl package.

#' A policy of a service.
#' @param url Where the service is.
#' @param token As `fugu token make` showed it.
#' @param policy Its name there.
fugu_connect <- function(url, token, policy) {
  structure(list(url = sub("/+$", "", url), token = token, name = policy), class = c("fugu_served", "fugu_policy"))
}

print.fugu_served <- function(x, ...) {
  cat("<fugu policy ", x$name, " of ", x$url, ">\n", sep = "")
  invisible(x)
}

# One request. What was refused is a fugu_error; whoever is turned away comes again after what the service says.
fugu_call <- function(policy, method, what = "", body = NULL, once = NULL, left = 3) {
  if (!requireNamespace("curl", quietly = TRUE)) {
    stop(fugu_error(list(code = "COMMAND_MISSING", message = "The curl package is not installed.", hint = "install.packages(\"curl\")")))
  }
  handle <- curl::new_handle(customrequest = method)
  headers <- c(authorization = paste("Bearer", policy$token), if (!is.null(body)) c(`content-type` = "application/json"), if (!is.null(once)) c(`idempotency-key` = once))
  do.call(curl::handle_setheaders, c(list(handle), as.list(headers)))
  if (!is.null(body)) curl::handle_setopt(handle, copypostfields = as.character(jsonlite::toJSON(body, auto_unbox = TRUE, digits = NA, null = "null")))
  address <- paste0(policy$url, "/v1/policies/", utils::URLencode(policy$name, reserved = TRUE), what)
  got <- tryCatch(curl::curl_fetch_memory(address, handle), error = function(e) {
    stop(fugu_error(list(code = "SERVER_UNREACHABLE", message = "The service cannot be reached.", hint = conditionMessage(e))))
  })
  text <- rawToChar(got$content)
  Encoding(text) <- "UTF-8"
  document <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(e) list())
  if (got$status_code < 300) return(document)
  wait <- curl::parse_headers_list(got$headers)[["retry-after"]]
  if (got$status_code %in% c(429, 503) && !is.null(wait) && left > 0) {
    Sys.sleep(as.numeric(wait))
    return(fugu_call(policy, method, what, body, once, left - 1))
  }
  stop(fugu_error(list(
    code = if (is.null(document$code)) "UNKNOWN" else document$code,
    message = if (is.null(document$title)) paste("The service answered", got$status_code) else document$title,
    hint = if (is.null(document$hint)) "" else document$hint, outcome = document$outcome
  )))
}

# What is asked, as the service takes it.
fugu_body <- function(query, how) {
  options <- c("epsilon", "tidy", "fresh", "label")
  kinds <- c("sql", "survey", "workload", "synth", "pattern", "kmeans", "classify", "network", "stream")
  unknown <- setdiff(names(how), c(options, kinds))
  if (length(unknown)) {
    stop(fugu_error(list(code = "USAGE", message = paste0("There is no option \"", unknown[[1]], "\"."), hint = paste0("Options: ", paste(c(options, kinds), collapse = ", "), "."))))
  }
  named <- how[intersect(names(how), kinds)]
  if (is.null(query) == (length(named) == 0)) {
    stop(fugu_error(list(code = "USAGE", message = "Say what to ask in exactly one way.", hint = "Give a query, or sql = \"...\".")))
  }
  c(list(question = if (is.null(query)) named else query), how[intersect(names(how), options)])
}
