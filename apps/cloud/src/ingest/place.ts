/** Location of an upload in the account tree, with the names shown in notifications; stored with each row of the log. */
import type { Place as PlaceMessage } from '@platform/proto/platform/ingest/v1/log';

export type Place = Readonly<Omit<PlaceMessage, '$typeName' | '$unknown'>>;
