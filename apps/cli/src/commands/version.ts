import { readFileSync } from 'node:fs';
import { Command } from 'commander';

/** `platform version`: the version of the platform and of the Node that runs it. */
export function versionCommand(): Command {
  return new Command('version').description('print the version of the platform and of its Node').action(() => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    console.log(`platform ${version} (Node ${process.versions.node})`);
  });
}
