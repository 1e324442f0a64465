#' The codebook of a data frame: haven's labels, its missing values, and factors.
#'
#' Value labels (`labels`) and missing values (`na_values`, `na_range`) of `haven::labelled` and
#' `haven::labelled_spss` columns become codes; the `label` of a column becomes its question.
#' @return A data frame with the columns name, value, label, missing.
fugu_codebook <- function(data) {
  lines <- lapply(names(data), function(name) {
    column <- data[[name]]
    said <- attr(column, "label", exact = TRUE)
    labels <- attr(column, "labels", exact = TRUE)
    codes <- fugu_code(unname(labels))
    none <- unique(c(fugu_code(attr(column, "na_values", exact = TRUE)), fugu_in_range(attr(column, "na_range", exact = TRUE), unname(labels))))
    if (is.factor(column)) {
      labels <- stats::setNames(levels(column), levels(column))
      codes <- levels(column)
    }
    all <- unique(c(codes, none))
    all <- all[!is.na(all) & nzchar(all)]
    told <- if (length(codes)) stats::setNames(names(labels), codes) else character()
    own <- data.frame(
      name = rep(name, length(all)), value = all,
      label = ifelse(all %in% names(told), unname(told[all]), ""),
      missing = ifelse(all %in% none, "yes", ""), stringsAsFactors = FALSE
    )
    question <- if (is.character(said) && length(said) == 1 && nzchar(said)) {
      data.frame(name = name, value = "", label = said, missing = "", stringsAsFactors = FALSE)
    }
    rbind(question, own)
  })
  made <- do.call(rbind, lines)
  if (is.null(made)) data.frame(name = character(), value = character(), label = character(), missing = character()) else made
}

# A value as Fugu reads it: no ".0" behind a whole number, nothing for what is missing.
fugu_code <- function(x) {
  if (is.null(x)) return(character())
  if (inherits(x, "POSIXt")) return(ifelse(is.na(x), "", format(x, "%Y-%m-%dT%H:%M:%S", tz = "UTC")))
  if (inherits(x, "Date")) return(ifelse(is.na(x), "", format(x, "%Y-%m-%d")))
  if (is.logical(x)) return(ifelse(is.na(x), "", ifelse(x, "true", "false")))
  if (is.numeric(x)) return(ifelse(is.na(x), "", trimws(vapply(as.numeric(x), function(v) format(v, digits = 15, scientific = abs(v) >= 1e15), ""))))
  text <- enc2utf8(as.character(x))
  ifelse(is.na(text), "", text)
}

# The whole numbers of a range of missing values where they are few, and the labelled codes in it.
fugu_in_range <- function(range, labels) {
  if (length(range) != 2) return(character())
  whole <- if (all(is.finite(range)) && diff(range) < 1000) seq(ceiling(range[[1]]), floor(range[[2]])) else numeric()
  fugu_code(unique(c(labels[labels >= range[[1]] & labels <= range[[2]]], whole)))
}

#' From a data frame to a drafted policy.
#'
#' Writes data.csv, codebook.csv and policy.yaml into a folder. `dependence`, `budget` and `protect`
#' replace those of the draft: who knows whom is yours to say. What was read from the data must be
#' confirmed ([fugu_confirm()]) before anything is released.
#' @param data A data frame; columns may be `haven::labelled`.
#' @param folder Where to write; nothing that is there is replaced.
#' @param dependence "none", or a list of ties such as `list(list(kind = "groups", by = "household", oddsRatio = 4))`.
fugu_init <- function(data, folder, dependence = NULL, budget = NULL, protect = NULL) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  paths <- stats::setNames(file.path(folder, c("data.csv", "codebook.csv", "policy.yaml")), c("data", "codebook", "policy"))
  if (any(file.exists(paths))) {
    stop(fugu_error(list(code = "USAGE", message = paste0(paths[file.exists(paths)][[1]], " exists already."), hint = "Choose another folder.")))
  }
  plain <- as.data.frame(lapply(data, function(column) fugu_code(if (is.factor(column)) as.character(column) else unclass_labelled(column))), check.names = FALSE, stringsAsFactors = FALSE, optional = TRUE)
  names(plain) <- names(data)
  fugu_write(plain, paths[["data"]])
  book <- fugu_codebook(data)
  if (nrow(book)) fugu_write(book, paths[["codebook"]])
  fugu_run("init", paths[["data"]], "--out", paths[["policy"]], if (nrow(book)) c("--codebook", paths[["codebook"]]))
  fugu_declare(paths[["policy"]], list(dependence = dependence, budget = budget, protect = protect))
  structure(list(path = paths[["policy"]]), class = "fugu_policy")
}

# The numbers or text of a labelled column; dates stay dates.
unclass_labelled <- function(x) if (inherits(x, "haven_labelled")) as.vector(unclass(x)) else x

fugu_write <- function(frame, path) {
  file <- file(path, open = "wb")
  on.exit(close(file))
  quoted <- function(cells) ifelse(grepl("[\",\r\n;\t|]", cells) | length(frame) == 1, paste0("\"", gsub("\"", "\"\"", cells), "\""), cells)
  lines <- do.call(paste, c(lapply(frame, quoted), sep = ","))
  writeLines(enc2utf8(c(paste(quoted(names(frame)), collapse = ","), if (nrow(frame)) lines)), file, sep = "\n", useBytes = TRUE)
}

# Replaces lines of the draft; JSON is YAML.
fugu_declare <- function(path, sections) {
  lines <- readLines(path, warn = FALSE, encoding = "UTF-8")
  for (key in names(sections)) {
    said <- sections[[key]]
    if (is.null(said)) next
    text <- paste0(key, ": ", if (is.character(said)) said else jsonlite::toJSON(said, auto_unbox = TRUE, digits = NA))
    at <- grep(paste0("^", key, ":"), lines)
    if (!length(at)) {
      lines <- c(lines, text)
      next
    }
    more <- at[[1]] + 1
    while (more <= length(lines) && grepl("^[ \t]+\\S", lines[[more]])) more <- more + 1
    lines <- c(lines[seq_len(at[[1]] - 1)], text, if (more <= length(lines)) lines[more:length(lines)])
  }
  con <- file(path, open = "wb")
  on.exit(close(con))
  writeLines(enc2utf8(lines), con, sep = "\n", useBytes = TRUE)
}
