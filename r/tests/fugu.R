# Run by R CMD check, and by test/r.test.ts. Needs the fugu command on the PATH or in FUGU.
if (requireNamespace("fugu", quietly = TRUE)) {
  library(fugu)
} else {
  for (file in list.files(file.path(Sys.getenv("FUGU_R_SOURCE", ".."), "R"), full.names = TRUE)) source(file)
}
# Every run asks the same data under a budget of its own.
if (Sys.getenv("FUGU_REGISTRY") == "") Sys.setenv(FUGU_REGISTRY = "off")
caught <- function(code, expr) {
  found <- tryCatch({ expr; NULL }, fugu_error = function(e) e)
  stopifnot(!is.null(found), identical(found$code, code))
  invisible(found)
}
folder <- tempfile("fugu-r-")

# haven's attributes, with or without haven.
vote <- structure(rep(c(1, 2, 99, 1), 50), class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"),
  labels = c(For = 1, Against = 2, Refused = 99), na_values = 99, label = "How did you vote?")
region <- structure(rep(c(1, -9, 2, -8), 50), class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"),
  labels = c(North = 1, South = 2), na_range = c(-9, -8))
people <- data.frame(id = seq_len(200), party = factor(rep(c("left", "right, wing"), 100)), age = 20 + (0:199 * 7) %% 60)
people$age[2:3] <- c(35.5, NA)
people$vote <- vote
people$region <- region

book <- fugu_codebook(people)
stopifnot(
  identical(book$value[book$name == "vote"], c("", "1", "2", "99")),
  identical(book$label[book$name == "vote"], c("How did you vote?", "For", "Against", "Refused")),
  identical(book$missing[book$name == "vote"], c("", "", "", "yes")),
  identical(book$value[book$name == "region" & book$missing == "yes"], c("-9", "-8")),
  identical(book$value[book$name == "party"], c("left", "right, wing"))
)

policy <- fugu_init(people, file.path(folder, "town"), dependence = "none", budget = list(epsilon = 2, delta = 1e-6))
stopifnot(identical(readLines(file.path(folder, "town", "data.csv"))[2:4], c("1,left,20,1,1", "2,\"right, wing\",35.5,2,-9", "3,left,,99,2")))
caught("POLICY_UNCONFIRMED", fugu_release(policy, sql = "SELECT AVG(age) FROM data"))
fugu_confirm(policy)
plan <- fugu_plan(policy, list(kind = "histogram", column = "vote"), epsilon = 0.5)
stopifnot(plan$budget$spent == 0)
votes <- fugu_release(policy, list(kind = "histogram", column = "vote"), epsilon = 0.5)
stopifnot(
  identical(names(votes), c("vote", "value", "low", "high")),
  all(c("1", "2") %in% votes$vote),
  all(votes$low <= votes$value & votes$value <= votes$high),
  isTRUE(attr(votes, "receipt")$guarantee$certified)
)
both <- fugu_release(policy, sql = "SELECT party, COUNT(*), AVG(age) FROM data GROUP BY party", epsilon = 0.5)
stopifnot(length(unique(both$table)) == 2, is.numeric(both$value))
fault <- caught("COLUMN_UNKNOWN", fugu_release(policy, sql = "SELECT COUNT(*) FROM data WHERE nobody = 1"))
stopifnot(identical(fault$outcome$state, "not spent"), nzchar(fault$hint))
caught("USAGE", fugu_init(people, file.path(folder, "town")))
caught("USAGE", fugu_plan(policy, sqll = "x"))
unlink(folder, recursive = TRUE)
cat("fugu for R: everything holds\n")
