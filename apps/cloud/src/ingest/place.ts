/** Where in the account tree an upload belongs, with the names that notifications show; stored with each row of the log. */
import type { Place as PlaceMessage } from '@platform/proto/platform/ingest/v1/log';

export type Place = Readonly<Omit<PlaceMessage, '$typeName' | '$unknown'>>;
