/**
 * The parts of the Model Context Protocol's SDK that `mcp` uses. Only this file imports the SDK: the npm package has a
 * bundle in its place, so installing the package does not install the SDK. It speaks the
 * protocol's revisions of 2025 and 2026.
 */
export {
  type CallToolResult,
  McpServer,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
