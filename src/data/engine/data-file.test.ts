import { describe, expect, it } from 'vitest';
import { lookAt } from './data-file.js';

describe('a file that is not read', () => {
  it.each([
    ['survey.sas7bdat', /\.xpt.*\.sav or \.dta/],
    ['survey.RData', /write_sav/],
    ['survey.rds', /write_sav/],
    ['survey.xls', /\.xlsx/],
    ['survey.por', /\.sav/],
    ['survey.pdf', /must end in/],
  ])('%s is refused with what to save instead', async (file, hint) => {
    await expect(lookAt(file)).rejects.toMatchObject({ code: 'DATA_NOT_FOUND', hint: expect.stringMatching(hint) });
  });

  it('is named by its own ending', async () => {
    await expect(lookAt('survey.ods')).rejects.toMatchObject({ message: 'Files of this kind (.ods) are not read.' });
  });
});
