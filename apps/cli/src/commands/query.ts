/** `platform query`: rows of a SELECT or of an aggregation pipeline, one JSON object a line. */
import { join } from 'node:path';
import { type JsonObject, openCloud, type Row } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { type Context, defaultUrl } from '../invocation/context.ts';
import { leaf } from '../invocation/leaf.ts';
import { parsePipeline } from '../query/parse-pipeline.ts';
import { readKeyFile } from '../query/read-key-file.ts';
import { fromEnvironment } from '../settings.ts';

export function queryCommand(): Command {
  return leaf(
    new Command('query')
      .description('print the rows of a query over `readings`, one JSON object a line')
      .argument('<query>', 'a SELECT, or an aggregation pipeline: a JSON array of stages, Extended JSON for dates')
      .option('--data <dir>', 'data folder of a cloud on this computer: asks with the key of its demo'),
    {
      examples: [
        'platform query "SELECT time_received, data FROM readings LIMIT 3"',
        `platform query '[{"$match":{"component_name":"host"}},{"$limit":3}]'`,
        `platform query '[{"$sort":{"time_received":-1}},{"$limit":1}]' --json=data`,
      ],
      fields: ['those of the rows'],
    },
    async (context, flags, query = '') => {
      const stages = /^\s*[[{]/.test(query) ? parsePipeline(query) : undefined;
      const rows = await ask(context, flags['data'], (cloud, organizationId) =>
        stages === undefined
          ? cloud.querySql(organizationId, query, context.signal)
          : cloud.queryMql(organizationId, stages, context.signal),
      );
      for (const row of rows) {
        const text = JSON.stringify(row);
        context.out.element(JSON.parse(text) as JsonObject, text);
      }
    },
  );
}

type Cloud = Awaited<ReturnType<Context['cloud']>>;

async function ask(
  context: Context,
  dataDir: unknown,
  run: (cloud: Cloud, organizationId: string) => Promise<Row[]>,
): Promise<Row[]> {
  if (dataDir === undefined) return run(await context.cloud(), (await context.find.organization()).id);
  const url = context.flags.url ?? (fromEnvironment.url || defaultUrl);
  const { organizationId, keyId, key } = await readKeyFile(join(String(dataDir), 'demo.json'));
  await using cloud = openCloud({ url, keyId, key });
  return await run(cloud, organizationId);
}
