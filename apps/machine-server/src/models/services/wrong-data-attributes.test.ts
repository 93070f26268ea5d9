/** A wrong value of each attribute of the data manager and of capture methods is reported with its path, and what was expected. */
import { parse } from '@platform/machine-config/parse';
import { expect, test } from 'vitest';

function documentWith(service: object, method: object): object {
  const capture_methods = [{ method: 'Readings', capture_frequency_hz: 50, ...method }];
  const service_configs = [{ type: 'data_manager', attributes: { capture_methods } }];
  const api = 'core:service:data_manager';
  return {
    components: [{ name: 'probe', api: 'core:component:sensor', model: 'core:builtin:fake', service_configs }],
    services: [{ name: 'dm', api, model: 'core:builtin:builtin', attributes: service }],
  };
}

const said = (path: string, expected: string, found: string): [string, string] => [
  path,
  `expected ${expected}, found ${found}`,
];
const own = 'services[0].attributes';
const ofMethod = 'components[0].service_configs[0].attributes.capture_methods[0]';
/** A wrong value, its position, and the message. */
const wrong: readonly [service: object, method: object, path: string, message: string][] = [
  [{ capture_disabled: 1 }, {}, ...said(`${own}.capture_disabled`, 'true or false', '1')],
  [{ capture_dir: 5 }, {}, ...said(`${own}.capture_dir`, 'a string', '5')],
  [{ tags: ['a b'] }, {}, ...said(`${own}.tags[0]`, 'a tag of letters, digits, underscores and dashes', '"a b"')],
  [{ sync_disabled: 'no' }, {}, ...said(`${own}.sync_disabled`, 'true or false', '"no"')],
  [{ additional_sync_paths: ['x/y'] }, {}, ...said(`${own}.additional_sync_paths[0]`, 'an absolute path', '"x/y"')],
  [{ sync_interval_mins: -1 }, {}, ...said(`${own}.sync_interval_mins`, 'a number of at least 0', '-1')],
  [{ selective_syncer_name: 1 }, {}, ...said(`${own}.selective_syncer_name`, 'a string', '1')],
  [
    { delete_every_nth_when_disk_full: 0 },
    {},
    ...said(`${own}.delete_every_nth_when_disk_full`, 'a whole number of at least 1', '0'),
  ],
  [
    { maximum_num_sync_threads: 1.5 },
    {},
    ...said(`${own}.maximum_num_sync_threads`, 'a whole number of at least 0', '1.5'),
  ],
  [
    { docdb_capture_config: { uri: 'http://user:pass@h' } },
    {},
    ...said(
      `${own}.docdb_capture_config.uri`,
      'an address that begins with mongodb:// or mongodb+srv://',
      'something else',
    ),
  ],
  [{ docdb_capture_config: { database: 1 } }, {}, ...said(`${own}.docdb_capture_config.database`, 'a string', '1')],
  [{ docdb_capture_config: { collection: 1 } }, {}, ...said(`${own}.docdb_capture_config.collection`, 'a string', '1')],
  [
    { maximum_capture_file_size_bytes: '1' },
    {},
    ...said(`${own}.maximum_capture_file_size_bytes`, 'a whole number of at least 1', '"1"'),
  ],
  [
    { file_last_modified_millis: -1 },
    {},
    ...said(`${own}.file_last_modified_millis`, 'a whole number of at least 0', '-1'),
  ],
  [
    { disk_usage_deletion_threshold: 90 },
    {},
    ...said(`${own}.disk_usage_deletion_threshold`, 'a number from 0 to 1', '90'),
  ],
  [
    { capture_dir_deletion_threshold: -0.1 },
    {},
    ...said(`${own}.capture_dir_deletion_threshold`, 'a number from 0 to 1', '-0.1'),
  ],
  [{ delete_data_on_part_deletion: 1 }, {}, ...said(`${own}.delete_data_on_part_deletion`, 'true or false', '1')],
  [{}, { capture_frequency_hz: -1 }, ...said(`${ofMethod}.capture_frequency_hz`, 'a number of at least 0', '-1')],
  [{}, { additional_params: [] }, ...said(`${ofMethod}.additional_params`, 'an object', '[]')],
  [{}, { disabled: 'yes' }, ...said(`${ofMethod}.disabled`, 'true or false', '"yes"')],
  [{}, { tags: 'x' }, ...said(`${ofMethod}.tags`, 'a list of strings', '"x"')],
  [{}, { capture_directory: 1 }, ...said(`${ofMethod}.capture_directory`, 'a string', '1')],
  [{}, { capture_queue_size: -1 }, ...said(`${ofMethod}.capture_queue_size`, 'a whole number of at least 0', '-1')],
  [{}, { capture_buffer_size: 0.5 }, ...said(`${ofMethod}.capture_buffer_size`, 'a whole number of at least 0', '0.5')],
  [
    {},
    { method: 'DoCommand' },
    `${ofMethod}.additional_params.docommand_input`,
    'expected an object (the command), found nothing',
  ],
  [{}, { cache_size_kb: -1 }, ...said(`${ofMethod}.cache_size_kb`, 'a number of at least 0', '-1')],
  [
    {},
    { recent_data_store: { stored_hours: -1 } },
    ...said(`${ofMethod}.recent_data_store.stored_hours`, 'a number of at least 0', '-1'),
  ],
];

test.each(wrong)('a wrong value is reported with its path: %j %j', (service, method, path, message) => {
  const { problems } = parse(documentWith(service, method));
  expect(problems).toContainEqual(expect.objectContaining({ path, message }));
});
