import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/app/service/token.js';
import { serveTown } from './served.js';

const needed = 'stopifnot(requireNamespace("jsonlite", quietly = TRUE), requireNamespace("curl", quietly = TRUE))';
const there = spawnSync('Rscript', ['-e', needed]).status === 0;

let place: Awaited<ReturnType<typeof serveTown>>;
beforeAll(async () => {
  place = await serveTown();
});
afterAll(() => place.close());

const script = `
for (file in list.files(file.path(Sys.getenv("FUGU_R_SOURCE"), "R"), full.names = TRUE)) source(file)
words <- commandArgs(TRUE)
town <- fugu_connect(paste0(words[[1]], "/"), words[[2]], "town")
print(town)
stopifnot(isTRUE(fugu_check(town)$ready))
plan <- fugu_plan(town, list(kind = "count", by = list("party")), epsilon = "1/4")
stopifnot(isTRUE(plan$fits), plan$budget$spent == 0)
told <- fugu_release(town, list(kind = "count", by = list("party")), epsilon = "1/4")
stopifnot(
  identical(names(told), c("party", "value", "low", "high")), all(c("left", "right", "other") %in% told$party),
  all(told$low <= told$value & told$value <= told$high), isTRUE(attr(told, "receipt")$guarantee$certified)
)
again <- fugu_release(town, list(kind = "count", by = list("party")), epsilon = "1/4")
stopifnot(identical(told$value, again$value), isTRUE(attr(again, "receipt")$ledger$replayed))
one <- fugu_release(town, list(kind = "count", by = list("age")), epsilon = 0.125, once = "a")
same <- fugu_release(town, list(kind = "count", by = list("age")), epsilon = 0.125, fresh = TRUE, once = "b")
last <- fugu_release(town, list(kind = "count", by = list("age")), epsilon = 0.125, fresh = TRUE, once = "b")
stopifnot(identical(same$value, last$value), !identical(one$value, same$value))
sql <- fugu_ask(town, sql = "SELECT party, COUNT(*) FROM data GROUP BY party", epsilon = 0.1)
stopifnot(length(sql$tables) == 1)
kept <- fugu_ledger(town)
stopifnot(abs(kept$budget$spent - 0.6) < 1e-9, length(kept$entries) == 4)
refused <- function(code, expr) {
  found <- tryCatch({ expr; NULL }, fugu_error = function(e) e)
  stopifnot(!is.null(found), identical(found$code, code))
  found
}
stopifnot(identical(refused("BUDGET_EXCEEDED", fugu_ask(town, list(kind = "count"), epsilon = 9))$outcome$state, "not spent"))
invisible(refused("COLUMN_UNKNOWN", fugu_plan(town, list(kind = "count", by = list("nothing")))))
invisible(refused("NOT_FOUND", fugu_check(fugu_connect(words[[1]], words[[2]], "a/../b"))))
invisible(refused("USAGE", fugu_plan(town, list(kind = "count"), nonsense = 1)))
invisible(refused("ACCESS_DENIED", fugu_check(fugu_connect(words[[1]], "fugu_x", "town"))))
invisible(refused("SERVER_UNREACHABLE", fugu_check(fugu_connect("http://127.0.0.1:1", words[[2]], "town"))))
cat("told\\n")
`;

describe('the R package', () => {
  it.skipIf(!there)(
    `the R package speaks to a service${there ? '' : ' (skipped: there is no R with jsonlite and curl)'}`,
    async () => {
      const ann = new TokenStore(join(place.folder, 'tokens')).make({ name: 'ann', role: 'analyst', days: 1 }).text;
      const env = { ...process.env, FUGU_R_SOURCE: join(import.meta.dirname, '../../r') };
      const output = await new Promise<string>((done) =>
        execFile('Rscript', ['-e', script, place.serving.url, ann], { env }, (_error, out, err) => done(out + err)),
      );
      expect(output).toBe(`<fugu policy town of ${place.serving.url}>\ntold\n`);
    },
  );
});
