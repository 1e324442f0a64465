import { describe, expect, it } from 'vitest';
import { fileState } from './data-file.js';

describe('a file that is not read', () => {
  it.each([
    ['survey.sas7bdat', /\.xpt.*\.sav or \.dta/],
    ['survey.RData', /write_sav/],
    ['survey.rds', /write_sav/],
    ['survey.xls', /\.xlsx/],
    ['survey.por', /\.sav/],
    ['survey.pdf', /must end in/],
  ])('the file %s is refused with advice for conversion', async (file, hint) => {
    await expect(fileState(file)).rejects.toMatchObject({ code: 'DATA_NOT_FOUND', hint: expect.stringMatching(hint) });
  });

  it('the fault names the ending of the file itself', async () => {
    await expect(fileState('survey.ods')).rejects.toMatchObject({ message: 'Files of this kind (.ods) are not read.' });
  });
});
