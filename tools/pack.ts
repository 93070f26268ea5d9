/** Packs the packages to be published into a folder, for `npm install --global FOLDER/*.tgz`: npm run pack -- FOLDER */
import { resolve } from 'node:path';
import { pack } from './pack-packages.ts';

const folder = process.argv[2];
if (folder === undefined) {
  console.error('expected a folder for the packages: npm run pack -- FOLDER');
  process.exit(1);
}
const tarballs = await pack(resolve(folder));
console.log(`${tarballs.length} packages in ${folder}; install them with: npm install --global ${folder}/*.tgz`);
