import { expect, test } from 'vitest';
import { openBinary } from '../testing/open-binary.ts';
import { asCovered, foundFiles } from './found-files.ts';

const stored = {
  ...{ id: 'id', position: 1, organization_id: 'acme', location_id: 'location', robot_id: 'robot', part_id: 'part' },
  ...{ robot_name: 'name of the robot', part_name: 'name of the part', component_type: 'core:component:camera' },
  ...{ component_name: 'cam', method_name: 'GetImages', mime_type: 'image/png', file_name: 'a.png', file_ext: '.png' },
  ...{ size_bytes: 2, captured_us: 3, time_requested_us: 4, time_received_us: 5, capture_day: 6, synced_ms: 7 },
  ...{ method_parameters: 'parameters', classifications: '[]', blob_path: 'path', sha256: 'sum' },
  tags: '["dark"]',
};

test.each(['name of the robot', 'a name with \u001f, which separates values'])(
  'a file read as text has the same values as one read column by column: %s',
  async (robot_name) => {
    const { db } = await openBinary();
    const values = { ...stored, robot_name };
    await db.insertInto('binary_data').values(values).execute();
    const found = await foundFiles(db, await db.selectFrom('binary_data').select(asCovered).execute());
    expect(found.map(({ row }) => row)).toMatchObject([values]);
    expect(Object.keys(values)).toEqual(
      expect.arrayContaining(Object.keys(found[0]?.row ?? {}).filter((name) => name !== 'row_check')),
    );
  },
);
