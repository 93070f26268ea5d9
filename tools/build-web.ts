/** Builds the web UI, if its sources have changed: npm run build:web */
import { buildWebUi } from './build-web-ui.js';
import { root } from './repository.ts';

const say = (line: string): void => console.log(line);
process.exit(buildWebUi(root, process.execPath, say, () => () => {}) ? 0 : 1);
