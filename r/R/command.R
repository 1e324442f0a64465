# Runs the fugu command and reads the one JSON document it prints.

# How to start fugu: FUGU in the environment, or the command on the PATH.
fugu_command <- function() {
  said <- Sys.getenv("FUGU")
  if (nzchar(said)) {
    if (file.exists(said)) return(said)
    return(scan(text = said, what = character(), quiet = TRUE))
  }
  found <- Sys.which("fugu")
  if (nzchar(found)) return(unname(found))
  stop(fugu_error(list(
    code = "COMMAND_MISSING", message = "The fugu command is not found.",
    hint = "Put it on the PATH (npm link in its folder), or set FUGU to it."
  )))
}

# A condition with the code, the hint and what became of the budget; never a value from the data.
fugu_error <- function(told) {
  structure(
    class = c(paste0("fugu_", tolower(told$code)), "fugu_error", "error", "condition"),
    list(message = told$message, code = told$code, hint = told$hint, outcome = told$outcome, call = NULL)
  )
}

conditionMessage.fugu_error <- function(c) paste0(c$message, " ", c$hint, " [", c$code, "]")

fugu_run <- function(...) {
  words <- c(fugu_command(), ..., "--json")
  out <- tempfile()
  err <- tempfile()
  on.exit(unlink(c(out, err)))
  status <- suppressWarnings(system2(words[[1]], shQuote(words[-1]), stdout = out, stderr = err, stdin = ""))
  text <- paste(readLines(out, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  document <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(e) NULL)
  # Not $error: that would find "errors", too.
  if (!is.null(document[["error"]])) stop(fugu_error(document[["error"]]))
  if (status != 0 || is.null(document)) {
    said <- readLines(err, warn = FALSE)
    stop(fugu_error(list(
      code = "COMMAND_FAILED", message = "The fugu command ended without an answer.",
      hint = if (length(said)) said[[length(said)]] else paste0("Exit code ", status, ".")
    )))
  }
  document
}

# Options of the command line; NULL and FALSE are left out.
fugu_words <- function(options) {
  words <- character()
  for (name in names(options)) {
    value <- options[[name]]
    if (is.null(value) || identical(value, FALSE)) next
    words <- c(words, paste0("--", name))
    if (!identical(value, TRUE)) {
      words <- c(words, if (is.character(value) && length(value) == 1) value else as.character(jsonlite::toJSON(value, auto_unbox = TRUE, digits = NA)))
    }
  }
  words
}
