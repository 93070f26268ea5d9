import { join } from 'node:path';
import { openCloud, type Row } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { parsePipeline } from '../query/parse-pipeline.ts';
import { readKeyFile } from '../query/read-key-file.ts';
import { homeDir } from '../settings.ts';

interface QueryFlags {
  readonly url: string;
  readonly data: string;
  readonly keyFile?: string;
}

/** `platform query`: rows of a SELECT or of an aggregation pipeline, one JSON object a line. */
export function queryCommand(): Command {
  return new Command('query')
    .description('print the rows of a query over `readings`, one JSON object a line')
    .argument('<query>', 'a SELECT, or an aggregation pipeline: a JSON array of stages, Extended JSON for dates')
    .option('--url <url>', 'address of the cloud', 'http://127.0.0.1:8080')
    .option('--data <dir>', 'data folder of the cloud, for the key of its demo', join(homeDir, 'cloud'))
    .option('--key-file <file>', 'JSON with organizationId, keyId and key (default: demo.json of the data folder)')
    .action(async (query: string, flags: QueryFlags, command: Command) => {
      try {
        for (const row of await run(query, flags)) console.log(JSON.stringify(row));
      } catch (error) {
        command.error(`query: ${error instanceof Error ? error.message : error}`, { exitCode: 1 });
      }
    });
}

async function run(query: string, { url, data, keyFile }: QueryFlags): Promise<Row[]> {
  const stages = /^\s*[[{]/.test(query) ? parsePipeline(query) : undefined;
  const { organizationId, keyId, key } = await readKeyFile(keyFile ?? join(data, 'demo.json'));
  await using cloud = openCloud({ url, keyId, key });
  return await (stages === undefined ? cloud.querySql(organizationId, query) : cloud.queryMql(organizationId, stages));
}
