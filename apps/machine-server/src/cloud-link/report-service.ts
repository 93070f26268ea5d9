/**
 * The only method of FleetService that a machine calls. The generated service would also load the whole app API of the cloud, 3 MB that
 * nothing else here needs; on the wire there is no difference.
 */
import { createFileRegistry, type DescFile, fromJson } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import {
  file_platform_fleet_v1_part_report,
  ReportPartStatusRequestSchema,
  ReportPartStatusResponseSchema,
} from '@platform/proto/platform/fleet/v1/part_report';
import type { Client, Link } from '@platform/rpc/client';

const file = fromJson(FileDescriptorProtoSchema, {
  ...{ name: 'machine/report.proto', package: 'platform.fleet.v1', syntax: 'proto3' },
  dependency: [`${file_platform_fleet_v1_part_report.name}.proto`],
  service: [
    {
      name: 'FleetService',
      method: [
        {
          name: 'ReportPartStatus',
          inputType: `.${ReportPartStatusRequestSchema.typeName}`,
          outputType: `.${ReportPartStatusResponseSchema.typeName}`,
        },
      ],
    },
  ],
});
const resolve = (): DescFile => file_platform_fleet_v1_part_report;
const service = createFileRegistry(file, resolve).getService('platform.fleet.v1.FleetService');

export function reportClient(link: Pick<Link, 'client'>): Pick<Client<typeof FleetService>, 'reportPartStatus'> {
  if (service === undefined) throw new Error('expected FleetService in its own description');
  // The only type erasure: the descriptor is that of the method.
  return link.client(service) as unknown as Pick<Client<typeof FleetService>, 'reportPartStatus'>;
}
