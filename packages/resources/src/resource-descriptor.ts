import type { DescService } from '@bufbuild/protobuf';

/** What there is to say about a resource type; serving, proxying and capturing are generic over it. */
export interface ResourceDescriptor {
  /** `core:component:sensor`. */
  readonly api: string;
  /** The service that speaks for resources of this type; requests name the resource in their field `name`. */
  readonly service: DescService;
}
