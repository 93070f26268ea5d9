/** SeriesService: what an organization has stored, page by page, with newest values. Rules: docs/specs/series.md. */
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '@platform/base';
import type { SeriesService } from '@platform/proto/platform/series/v1/series';
import type { Scope } from '@platform/query';
import type { CloudCall, CloudHandlers } from '../../access/principal.ts';
import type { QueriesDeps } from '../queries-deps.ts';
import { createAsker } from '../readings/ask-rows.ts';
import { nonFiniteFor } from '../readings/json-of-bson.ts';
import { keyOf, type ListedSeries } from './listed-series.ts';
import { newestValues } from './newest-values.ts';
import { choicesIn, inScope, selectSeries } from './select-series.ts';
import type { SeriesIndex, SeriesList } from './series-index.ts';

const defaultPage = 50;
const largestPage = 200;
const longestSearch = 16_384;

interface Readable extends SeriesList {
  readonly scope: Scope;
  readonly readable: readonly ListedSeries[];
}

export function seriesHandlers(deps: QueriesDeps, index: SeriesIndex): CloudHandlers<typeof SeriesService> {
  const { access, names } = deps;
  const readableIn = async (organizationId: string, call: CloudCall, search = ''): Promise<Readable> => {
    const scope = access.scopeIn(call.principal, organizationId);
    const list = await index.of(organizationId, search.trim() !== '');
    return { ...list, scope, readable: inScope(list.series, scope) };
  };
  return {
    async listSeries(request, call) {
      const { pageSize, search, newestSince } = request;
      const { scope, readable, listedMs, ignoresValueNames } = await readableIn(request.organizationId, call, search);
      if (search.length > longestSearch)
        throw invalidArgument(`search: expected at most ${longestSearch} characters, found ${search.length}`);
      if (pageSize > largestPage)
        throw invalidArgument(`page_size: expected at most ${largestPage}, found ${pageSize}`);
      const selected = selectSeries(
        readable,
        {
          ...{ location: request.locationId, machine: request.machineId, type: request.componentType },
          ...{ component: request.componentName, method: request.methodName, search },
          newestSinceMs: newestSince && timestampMs(newestSince),
        },
        names.machineName,
      );
      const page = selected.slice(request.offset, request.offset + (pageSize || defaultPage));
      const { ask } = createAsker(deps, call.signal);
      const values = await newestValues(ask, scope, page, nonFiniteFor(call.metadata));
      return {
        series: page.map((one) => {
          const { readings = 0, newestMs, data } = values.get(keyOf(one)) ?? {};
          return {
            ...{ locationId: one.location, machineId: one.machine, partId: one.part },
            ...{ componentType: one.type, componentName: one.component, methodName: one.method },
            readings: BigInt(readings),
            ...(newestMs !== undefined && { newest: timestampFromMs(newestMs) }),
            ...(data !== undefined && { data }),
          };
        }),
        ...{ total: selected.length, totalReadable: readable.length },
        ...{ listedAt: timestampFromMs(listedMs), ignoresValueNames },
      };
    },

    async listSeriesChoices(request, call) {
      const { readable } = await readableIn(request.organizationId, call);
      const { locations, machines, components, methods, leftOff } = choicesIn(readable, {
        ...{ location: request.locationId, machine: request.machineId, component: request.componentName },
      });
      return {
        ...{ locationIds: [...locations], machineIds: [...machines] },
        ...{ componentNames: [...components], methodNames: [...methods], leftOff },
      };
    },
  };
}
