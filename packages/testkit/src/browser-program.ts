/** The browser for tests of pages: Debian's headless Chromium takes a fifth less processor time than the one with windows, which does as well. */
import { existsSync } from 'node:fs';

const headless = '/usr/bin/chromium-headless-shell';

export const browserProgram: string = [headless, '/usr/bin/chromium'].find((path) => existsSync(path)) ?? headless;
