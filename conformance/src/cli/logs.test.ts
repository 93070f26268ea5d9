/** `platform logs` with lines that a hostile device or module wrote. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { startCloud } from '../start-cloud.ts';
import { openCommandLine } from './command-line.ts';

test('platform logs shows control characters escaped, and further lines indented', async () => {
  await using cloud = await startCloud();
  const credentials = { entity: cloud.partId, type: 'robot-secret', payload: cloud.partSecret };
  await using machine = connect({ baseUrl: cloud.url, credentials });
  const time = timestampFromMs(Date.now());
  const line = {
    host: 'h',
    level: 'warn',
    time,
    loggerName: 'n\u009b2J',
    message: 'a\u001b[2J\r\u202eb\nERROR forged',
  };
  await machine.client(RobotService).log({ id: cloud.partId, logs: [{ ...line, stack: 'at\u0007' }] });
  await using cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  const { stdout } = await cli.ok(['logs', cloud.partId, '--level', 'warn']);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(stdout).toContain('  n\\u009b2J  a\\u001b[2J\\u000d\\u202eb\n    ERROR forged\n    at\\u0007\n');
});
