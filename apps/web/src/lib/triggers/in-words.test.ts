import { expect, test } from 'vitest';
import { inWords } from './in-words.ts';
import { emptySentence, type Sentence } from './sentence.ts';

const heat = { field: 'heat', operator: 'gt', value: '80' };
const door = { field: 'door', operator: 'eq', value: 'open' };
const hot: Sentence = {
  ...emptySentence,
  method: 'sensor:oven:Readings',
  conditions: { join: 'all', items: [heat] },
};
const nothing = { conditions: emptySentence.conditions };

test.each<[string, Partial<Sentence>]>([
  ['each time that heat is above 80 in a reading of sensor:oven:Readings', {}],
  ['each time that data of sensor:oven:Readings arrives', nothing],
  [
    'when heat is above 80 or door equals open in every reading of sensor:oven:Readings for 60 s, and again when it is over',
    { conditions: { join: 'any', items: [heat, door] }, timing: { mode: 'for', secs: 60, times: 0 } },
  ],
  [
    'when heat is above 80 in 3 readings of sensor:oven:Readings within 600 s, and again when heat is below 80',
    { timing: { mode: 'times', secs: 600, times: 3 }, clear: { join: 'all', items: [{ ...heat, operator: 'lt' }] } },
  ],
  [
    'when nothing has arrived from sensor:oven:Readings for 600 s, and again when it is over',
    { ...nothing, timing: { mode: 'absent', secs: 600, times: 0 } },
  ],
  [
    'when captured data no longer arrives for 300 s while the machine is online, and again when it is over',
    { event: 'capture_stopped' },
  ],
  [
    'when an API key of the machine expires within 3 days, and again when it is over',
    { event: 'credential_expiring', number: 3 },
  ],
  [
    'when lines at level error or warn that match over(load|heat) are logged, checked every 3600 s',
    { event: 'conditional_logs_ingested', levels: ['error', 'warn'], text: 'over(load|heat)' },
  ],
  ['when tabular or file data arrives', { event: 'part_data_ingested', dataTypes: ['tabular', 'file'] }],
  ['when the machine goes offline', { event: 'part_offline' }],
])('a trigger notifies %s', (words, part) => {
  expect(inWords({ ...hot, ...part })).toBe(`Notifies ${words}.`);
});
