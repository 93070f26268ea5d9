import { create } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import {
  CallRequestSchema,
  CallUpdateRequestSchema,
  OptionalWebRTCConfigRequestSchema,
  ReportConnectionMetadataRequestSchema,
} from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { notVisible, type Principal } from '../access/principal.ts';
import { callOf } from '../access/testing/call-of.ts';
import { createMachineNames } from '../machines/machine-names.ts';
import { callerHandlers } from './callers.ts';

const principal: Principal = { kind: 'key', keyId: 'k', grants: [] };
const name = 'press.machines.example';

function given() {
  const clock = new FakeClock();
  const state = { online: false, refused: false };
  const handlers = callerHandlers({
    names: createMachineNames('machines.example', []),
    access: {
      authorize(_principal, _action, id) {
        if (id !== 'press') throw notVisible('part', id ?? '');
        if (state.refused) throw new PlatformError('permission_denied', 'no');
        return { organizationId: 'acme', locationIds: [] };
      },
    },
    isOnline: () => state.online,
    clock,
  });
  const refusal = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'answered',
      (caught: PlatformError) => `${caught.code}: ${caught.message}`,
    );
  const headers = (host: string) => callOf(principal, host === '' ? {} : { 'rpc-host': host });
  const all = async (answers: AsyncIterable<unknown> | undefined): Promise<void> => {
    for await (const _ of answers ?? []);
  };
  const call = (host = `${name}:8080`): Promise<string> =>
    refusal(all(handlers.call?.(create(CallRequestSchema), headers(host))));
  const configure = (host = name): Promise<string> =>
    refusal(Promise.resolve(handlers.optionalWebRTCConfig?.(create(OptionalWebRTCConfigRequestSchema), headers(host))));
  return { clock, state, handlers, refusal, headers, call, configure };
}

test('D39 callers of an online machine are told UNIMPLEMENTED at once, on which clients call it with plain gRPC', async () => {
  const { state, call, configure } = given();
  state.online = true;
  expect(await configure()).toMatch(/^unimplemented: .*plain gRPC/);
  expect(await call()).toMatch(/^unimplemented: /);
});

test('D39 the caller of an offline machine is held for 5 s, then told NOT_FOUND in the public words; more than 50 are not held', async () => {
  const { clock, state, call, configure } = given();
  expect(await configure()).toBe('answered');
  let answered = 0;
  const all = Array.from({ length: 50 }, () =>
    call().finally(() => {
      answered++;
    }),
  );
  expect(await call()).toBe('unavailable: too many connection attempts; please wait a bit and try again');
  await clock.advance(4_900);
  expect(answered).toBe(0);
  await clock.advance(200);
  const offline = 'not_found: host appears to be offline; ensure machine is online and try again';
  expect(new Set(await Promise.all(all))).toEqual(new Set([offline]));
  // It came online meanwhile.
  const late = call();
  state.online = true;
  await clock.advance(5_000);
  expect(await late).toMatch(/^unimplemented: /);
});

test('D39 names of no machine, no name, too many names and missing rights are refused in the words that clients compare', async () => {
  const { state, call, configure } = given();
  expect(await configure('cloud.example:8080')).toBe('invalid_argument: host not preconfigured');
  expect(await configure('gone.machines.example')).toMatch(/^not_found: /);
  for (const host of ['', `${name},`, Array(6).fill(name).join(',')])
    expect(await configure(host)).toMatch(/^invalid_argument: .*rpc-host/);
  expect(await call(`${name},${name}`)).toMatch(/^invalid_argument: .*rpc-host/);
  state.refused = true;
  expect(await configure()).toMatch(
    /^permission_denied: no\. .*platform api-keys create NAME --role operator --machine/,
  );
});

test('candidates for an unknown offer are NOT_FOUND, and reports about attempts are taken', async () => {
  const { handlers, refusal, headers } = given();
  const update = create(CallUpdateRequestSchema, { uuid: 'u' });
  expect(await refusal(Promise.resolve(handlers.callUpdate?.(update, headers(name))))).toMatch(
    /no active offer for "u"/,
  );
  const report = create(ReportConnectionMetadataRequestSchema, { durationMs: 5 });
  expect(await refusal(Promise.resolve(handlers.reportConnectionMetadata?.(report, headers(name))))).toBe('answered');
  expect(await refusal(Promise.resolve(handlers.reportConnectionMetadata?.(report, headers(''))))).toMatch(/rpc-host/);
});
