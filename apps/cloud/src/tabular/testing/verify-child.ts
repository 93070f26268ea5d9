/**
 * A process that verifies a sealed file three times, for tests that make its disk fail. Arguments: the folder of the file and its FileRef as
 * JSON. Output, one JSON object a line: {"outcome":"right"}, or the code and message of the error.
 */
import { writeSync } from 'node:fs';
import { asPlatformError } from '@platform/base';
import { createFileVerifier } from '../process/files/verify-files.ts';
import type { FileRef } from '../process/messages.ts';

const [, , parquetDir = '', refText = ''] = process.argv;
const ref = JSON.parse(refText) as FileRef;
const verifier = createFileVerifier({
  ...{ parquetDir, sleep: async () => {}, report: () => {} },
  // Long after the file was written, so that its times are trusted.
  now: () => Date.now() + 60_000,
});
verifier.expect([ref]);
for (let query = 0; query < 3; query++) {
  const reader = verifier.reader();
  const said = await reader.rows([ref.file]).then(
    () => ({ outcome: 'right' }),
    (caught: unknown) => {
      const { code, message } = asPlatformError(caught);
      return { outcome: code, message };
    },
  );
  writeSync(1, `${JSON.stringify(said)}\n`);
}
