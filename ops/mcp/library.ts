/**
 * All that `mcp` takes of the Model Context Protocol's SDK. Only this file names it: the npm package has a bundle
 * in its place, so that whoever installs it gets none of it.
 */
export {
  type CallToolResult,
  McpServer,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
