/** Every service with a descriptor, found in the generated code rather than in a list. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DescService } from '@bufbuild/protobuf';

const generated = fileURLToPath(new URL('../../../packages/proto/src/gen', import.meta.url));
const ending = '_pb.ts';

export async function allServices(): Promise<DescService[]> {
  const files = readdirSync(generated, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(ending));
  const modules = await Promise.all(
    files.map((file): Promise<object> => import(`@platform/proto/${file.slice(0, -ending.length)}`)),
  );
  const found = modules.flatMap((one) => Object.values(one)).filter(isService);
  if (found.length === 0) throw new Error(`${generated}: expected services, found none`);
  return found;
}

function isService(value: unknown): value is DescService {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'service';
}
