/**
 * Takes pictures of every page of the web UI in a real browser: with content, in light and dark, on wide and phone screens; empty; and with
 * a cloud that fails. axe checks each. The folder has an `index.html` with all of them, and the command fails if axe finds anything.
 *
 * npm run screenshots -- --only machines,logs --states full,failing --out /tmp/screenshots
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startUi } from '../start-ui.ts';
import { fillCloud } from './fill-cloud.ts';
import { indexOf, takePictures } from './take-screenshots.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, states: { type: 'string' }, out: { type: 'string' } },
});
const folder = values.out ?? mkdtempSync(join(tmpdir(), 'platform-pictures-'));
mkdirSync(folder, { recursive: true });
await using ui = await startUi();
const filled = await fillCloud(ui);
const choice = { only: values.only?.split(','), states: values.states?.split(',') };
const pictures = await takePictures({ ui, filled, folder, ...choice });
writeFileSync(join(folder, 'index.html'), indexOf(pictures));
const faults = pictures.flatMap(({ file, faults: found }) => found.map((fault) => `${file}: ${fault}`));
for (const fault of faults) console.log(fault);
console.log(`${pictures.length} pictures, ${faults.length} faults: ${join(folder, 'index.html')}`);
process.exitCode = faults.length === 0 && pictures.length > 0 ? 0 : 1;
