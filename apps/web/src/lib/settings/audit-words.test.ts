import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type AuditEntry, AuditEntrySchema } from '@platform/proto/platform/fleet/v1/fleet';
import { expect, test } from 'vitest';
import { actionWords, entriesCsv, fitsEntry, namesById, targetName } from './audit-words.ts';

const entry = (more: Partial<AuditEntry> = {}): AuditEntry =>
  create(AuditEntrySchema, {
    ...{ at: timestampFromMs(0), action: 'AppService.UpdateRobotPart', targetKind: 'part', targetId: 'p1-long-id' },
    ...{ detail: '{}', peerAddress: '192.0.2.1:5000', actor: { kind: 'person', name: 'Ada' } },
    ...more,
  } as never);
const nameOf = (id: string): string | undefined => (id === 'm1' ? 'press-7' : undefined);

test.each([
  ['AppService.UpdateRobotPart', 'update machine part'],
  ['AppService.NewRobot', 'new machine'],
  ['DataService.RemoveTagsFromBinaryDataByIDs', 'remove tags from binary data by id'],
  ['DataService.AddTagsToBinaryDataByFilter', 'add tags to binary data'],
  ['FleetService.RestoreConfigurationVersion', 'restore configuration version'],
  ['admin.limits.set', 'admin limits set'],
  ['AppService.CreateAPIKey', 'create API key'],
])('%s reads as %s', (action, words) => {
  expect(actionWords(action)).toBe(words);
});

test('a target has its name: that of the page, that in the details, otherwise the start of its id', () => {
  expect(targetName(entry({ targetId: 'm1' }), nameOf)).toBe('press-7');
  expect(targetName(entry({ detail: '{"name":"oven"}' }), nameOf)).toBe('oven');
  expect(targetName(entry({ detail: 'no JSON' }), nameOf)).toBe('p1-long-');
});

test('entries are found by who, what and to what, in words and as on the wire', () => {
  for (const text of ['ada machine part', 'UPDATEROBOTPART', '192.0.2', 'press', ''])
    expect(fitsEntry(entry({ targetId: 'm1' }), 'press-7', text), text).toBe(true);
  expect(fitsEntry(entry(), '', 'delete')).toBe(false);
});

test('the export quotes what CSV needs quoted, and no cell is a formula', () => {
  const text = entriesCsv([entry({ detail: '{"a":"b,c"}', actor: { kind: 'key', name: '=1+1' } as never })], nameOf);
  expect(text.split('\r\n')).toEqual([
    'at,actor_kind,actor,action,target_kind,target,target_id,detail,from',
    `1970-01-01T00:00:00.000Z,key,'=1+1,AppService.UpdateRobotPart,part,p1-long-,p1-long-id,"{""a"":""b,c""}",192.0.2.1:5000`,
    '',
  ]);
});

test('the page knows machines, their main parts and their locations by name', () => {
  const machine = { id: 'm1', name: 'press-7', locationId: 'l1', location: 'Hall 2', mainPartId: 'p1-long-id' };
  const names = namesById([machine]);
  expect(['m1', 'p1-long-id', 'l1'].map((id) => names.get(id))).toEqual(['press-7', 'press-7', 'Hall 2']);
});

test('a change of the first owner, who has neither name nor address yet, is found and exported by that name', () => {
  const change = entry({ actor: { kind: 'person', name: '' } as never });
  expect(fitsEntry(change, '', 'first owner')).toBe(true);
  expect(entriesCsv([change], nameOf)).toContain(',person,The first owner,');
});
