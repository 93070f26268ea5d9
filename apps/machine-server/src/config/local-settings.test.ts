import { writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readConfigFile } from './credentials.ts';
import { parseLocalConfig } from './local-config.ts';

const cloud = { id: 'part', secret: 'secret', app_address: 'http://127.0.0.1:1' };

test('the local file has settings beside its cloud, or beside a whole configuration, which they are no part of', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('machine.json');
  const read = async (document: object) => {
    await writeFile(path, JSON.stringify(document));
    return readConfigFile(path, false);
  };
  const settings = { tcp_mode_trusted: true, allowed_sync_folders: ['/data'] };
  const expected = { tcpModeTrusted: true, allowedSyncFolders: ['/data'] };
  expect(await read({ cloud, ...settings })).toMatchObject({ kind: 'cloud', local: expected });
  const local = await read({ components: [], ...settings });
  expect(local).toMatchObject({ kind: 'local', local: expected });
  if (local.kind !== 'local' || local.text.kind !== 'read') throw new Error('expected a configuration');
  expect((await parseLocalConfig(local.text)).warnings).toEqual([]);
  expect(await read({ cloud })).toMatchObject({ local: { tcpModeTrusted: false, allowedSyncFolders: [] } });
  await expect(read({ cloud, tcp_mode_trusted: 'yes' })).rejects.toThrow('"tcp_mode_trusted", found "yes"');
  await expect(read({ cloud, allowed_sync_folders: ['data'] })).rejects.toThrow('absolute paths');
});
