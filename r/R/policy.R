#' Open a policy file.
#' @param path The policy, as `fugu init` or [fugu_init()] drafts one.
fugu_open <- function(path) {
  policy <- structure(list(path = path), class = "fugu_policy")
  fugu_check(policy)
  policy
}

print.fugu_policy <- function(x, ...) {
  cat("<fugu policy ", x$path, ">\n", sep = "")
  invisible(x)
}

#' What is protected from whom.
fugu_check <- function(policy) {
  if (inherits(policy, "fugu_served")) return(fugu_call(policy, "GET", "/check"))
  fugu_run("check", policy$path)
}

#' Say that domains and bounds drafted from the data are public knowledge.
#' @param columns Names, or "all".
fugu_confirm <- function(policy, columns = "all") {
  chosen <- if (identical(columns, "all")) "--all" else c("--columns", paste(columns, collapse = ","))
  invisible(fugu_run("confirm", policy$path, chosen))
}

#' What a release would cost and how wrong it would be. Spends nothing.
#' @param query A query as a list, or use `sql`, `survey`, `pattern`, `kmeans`, `classify`.
fugu_plan <- function(policy, query = NULL, ...) {
  if (inherits(policy, "fugu_served")) return(fugu_call(policy, "POST", "/plan", fugu_body(query, list(...))))
  fugu_run("plan", policy$path, fugu_asked(query, list(...)))
}

#' The noisy answer with its receipt. Spends budget, unless the same was asked before.
#' @param once Of a service: a name for this asking. Sent again under it, the same answer is told and nothing is paid, also with `fresh = TRUE`.
fugu_ask <- function(policy, query = NULL, ..., out = NULL, once = NULL) {
  if (inherits(policy, "fugu_served")) return(fugu_call(policy, "POST", "/release", fugu_body(query, list(...)), once = once))
  fugu_run("release", policy$path, fugu_asked(query, list(...)), fugu_words(list(out = out)))
}

#' The noisy answer as a data frame with value, low and high (a 95 % interval); the receipt is an attribute.
fugu_release <- function(policy, query = NULL, ..., out = NULL, once = NULL) {
  answer <- fugu_ask(policy, query, ..., out = out, once = once)
  if (is.null(answer$tables)) {
    stop(fugu_error(list(code = "USAGE", message = "This answer is no table.", hint = "Use fugu_ask(); the answer is recorded, so asking again costs nothing.")))
  }
  several <- length(answer$tables) > 1
  made <- lapply(answer$tables, fugu_table, several = several)
  frame <- if (several) fugu_bind(made) else made[[1]]
  attr(frame, "receipt") <- answer$receipt
  frame
}

#' What was spent, and what remains.
fugu_ledger <- function(policy) {
  if (inherits(policy, "fugu_served")) return(c(fugu_call(policy, "GET", "/budget"), fugu_call(policy, "GET", "/ledger?most=1000")))
  fugu_run("ledger", policy$path)
}

fugu_asked <- function(query, how) {
  known <- c("sql", "survey", "pattern", "kmeans", "classify", "epsilon", "tidy", "fresh", "gamma", "degree", "mechanism", "form")
  unknown <- setdiff(names(how), known)
  if (length(unknown)) {
    stop(fugu_error(list(code = "USAGE", message = paste0("There is no option \"", unknown[[1]], "\"."), hint = paste0("Options: ", paste(known, collapse = ", "), "."))))
  }
  fugu_words(c(list(query = query), how))
}

# JSON has no infinities: they come as text.
fugu_number <- function(x) if (is.null(x)) NA_real_ else suppressWarnings(as.numeric(sub("^(-?)inf$", "\\1Inf", as.character(x))))

fugu_table <- function(table, several) {
  columns <- unlist(table$columns)
  keys <- utils::head(columns, -1)
  frame <- lapply(seq_along(keys), function(k) vapply(table$rows, function(row) as.character(row$keys[[k]]), ""))
  names(frame) <- keys
  for (name in c("value", "low", "high")) frame[[name]] <- vapply(table$rows, function(row) fugu_number(row[[name]]), 0)
  if (several) frame <- c(list(table = rep(table$name, length(table$rows))), frame)
  as.data.frame(frame, check.names = FALSE, stringsAsFactors = FALSE, optional = TRUE)
}

fugu_bind <- function(frames) {
  names <- unique(unlist(lapply(frames, names)))
  names <- c(setdiff(names, c("value", "low", "high")), "value", "low", "high")
  do.call(rbind, lapply(frames, function(frame) {
    for (name in setdiff(names, names(frame))) frame[[name]] <- NA
    frame[names]
  }))
}
